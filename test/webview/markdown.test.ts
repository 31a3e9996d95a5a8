import assert from 'node:assert/strict';
import { makeAnswer, makePrompt, startAnswer, appendText } from '../support/page/builders.ts';
import type { PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const fence = '```';

describe('Markdown of an answer', () => {
  const suite = pageSuite();

  async function show(text: string): Promise<PanelPage> {
    const panel = await suite.open({
      messages: [makePrompt({ id: 'p1', text: 'q' }), makeAnswer({ id: 'a1', seq: 2, text })],
    });
    await panel.article('a1').waitFor();
    return panel;
  }

  const markdownOf = (panel: PanelPage) => panel.article('a1').locator('.markdown');
  const codeOf = (panel: PanelPage) => panel.article('a1').locator('pre code').allTextContents();

  it('shows tables, strikethrough, task lists and nested lists as elements', async () => {
    const panel = await show(
      '| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n~~gone~~\n\n- [x] done\n- [ ] open\n  1. inner\n',
    );
    const found = await markdownOf(panel).evaluate((element) => ({
      cells: [...element.querySelectorAll('th, td')].map((cell) => cell.textContent),
      aligned: element.querySelectorAll('.align-right').length,
      gone: element.querySelector('s')?.textContent,
      tasks: [...element.querySelectorAll('input')].map((box) => box.checked),
      inner: element.querySelector('li ol li')?.textContent,
    }));
    assert.deepEqual(found, {
      cells: ['a', 'b', '1', '2'],
      aligned: 2,
      gone: 'gone',
      tasks: [true, false],
      inner: 'inner',
    });
  });

  it('keeps a fence inside a longer fence, a tilde fence and an unclosed one', async () => {
    const text = [
      `${fence}\`md`,
      'before',
      `${fence}ts`,
      'inner',
      fence,
      'after',
      `${fence}\``,
      '',
      '~~~',
      `${fence} not a fence`,
      '~~~',
      '',
      'text',
      '',
      `${fence}js`,
      'never closed',
    ].join('\n');
    const panel = await show(text);
    assert.deepEqual(await codeOf(panel), [
      `before\n${fence}ts\ninner\n${fence}\nafter`,
      `${fence} not a fence`,
      'never closed',
    ]);
    assert.equal(await markdownOf(panel).locator('p').textContent(), 'text');
  });

  it('shows a fence right whose marks are split over chunks', async () => {
    const panel = await suite.open({ messages: [makePrompt({ id: 'p1', text: 'q' })] });
    await panel.article('p1').waitFor();
    await panel.host.emit(...startAnswer('a1', 2));
    for (const chunk of ['Text\n`', '``', '`t', 's\nconst a', ' = 1;\n``', `${fence}`, '\nend']) {
      await panel.host.emit(appendText('a1', chunk));
      await panel.settle();
    }
    await until(async () => (await codeOf(panel)).length === 1, { what: 'one block of code' });
    assert.deepEqual(
      await codeOf(panel),
      ['const a = 1;\n`````\nend'].map((code) => code.replace(/\n`{5}\nend$/, '')),
    );
  });

  it('colours closed code of a known language and leaves other code plain', async () => {
    const panel = await show(
      `${fence}ts\nconst a = "b"; // c\n${fence}\n\n${fence}klingon\nconst a\n${fence}\n`,
    );
    assert.deepEqual(await codeOf(panel), ['const a = "b"; // c', 'const a']);
    const scopes = await panel
      .article('a1')
      .locator('pre')
      .evaluateAll((blocks) =>
        blocks.map((block) => [...block.querySelectorAll('span')].map((span) => span.className)),
      );
    assert.deepEqual(scopes, [['hl-keyword', 'hl-string', 'hl-comment'], []]);
  });

  it('copies the code of a block through the host', async () => {
    const panel = await show(`${fence}ts\nconst a = 1;\n\nconst b = 2;\n${fence}\n`);
    await panel.button('Copy').click();
    assert.equal((await panel.host.waitForPost('copy')).text, 'const a = 1;\n\nconst b = 2;');
    await panel.button('Copied').waitFor();
  });

  it('makes links of web addresses and workspace files, which only post what was clicked', async () => {
    const panel = await show(
      [
        '[web](https://example.com/a?b=c#d) [mail](mailto:a@example.com) [file](src/a.ts:12)',
        '[anchor](src/a.ts#L3) [spaced](<docs/my notes.md>) `src/b.ts:7` `array.map` see lib/c.py:9 now',
        'https://example.org',
      ].join('\n'),
    );
    const links = panel.article('a1').getByRole('link');
    const wanted = [
      'https://example.com/a?b=c#d',
      'mailto:a@example.com',
      'src/a.ts:12',
      'src/a.ts#L3',
      'docs/my notes.md',
      'src/b.ts:7',
      'lib/c.py:9',
      'https://example.org',
    ];
    for (let index = 0; index < (await links.count()); index += 1) await links.nth(index).click();
    await panel.host.waitForPost('openLink', wanted.length);
    assert.deepEqual(
      panel.host.posted('openLink').map(({ href }) => href),
      wanted,
    );
    assert.ok(panel.page.url().startsWith('http://127.0.0.1'), 'the page itself went nowhere');
  });

  const attacks = [
    '<script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked = 1">',
    '<a href="javascript:window.hacked=1">x</a>',
    '[x](javascript:window.hacked=1)',
    '[x](JaVaScRiPt:window.hacked=1)',
    '[x](java\tscript:window.hacked=1)',
    '[x](&#106;avascript:window.hacked=1)',
    '[x](command:workbench.action.terminal.new)',
    '[x](vscode://file/etc/passwd)',
    '[x](vscode-insiders:extension/x)',
    '[x](data:text/html,<script>window.hacked=1</script>)',
    '[x](file:///etc/passwd)',
    '[x](blob:abc)',
    '[x](//example.com/a)',
    '[x]( javascript:window.hacked=1)',
    '<javascript:window.hacked=1>',
    '![x](javascript:window.hacked=1)',
    '[x][r]\n\n[r]: javascript:window.hacked=1',
    '`"><img src=x onerror=window.hacked=1>`',
    '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
    '<svg onload=window.hacked=1>',
  ];
  it('never makes elements, links or scripts of what is not allowed', async () => {
    const panel = await show(attacks.join('\n\n'));
    const found = await panel.article('a1').evaluate((element) => ({
      elements: element.querySelectorAll('script, img, iframe, svg, object, embed, style, form').length,
      links: [...element.querySelectorAll('a')].map((link) => link.getAttribute('href')),
      handlers: [...element.querySelectorAll('*')].filter((inner) =>
        inner.getAttributeNames().some((name) => name.startsWith('on') || name === 'style'),
      ).length,
    }));
    assert.deepEqual(found, { elements: 0, links: [], handlers: 0 });
    assert.equal(await panel.page.evaluate('window.hacked'), undefined);
    assert.ok((await panel.article('a1').textContent())?.includes('<script>window.hacked = 1</script>'));
  });
});
