import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOfflineGuide } from '../../../src/core/models/offlineGuide.ts';
import { NodeWorkspace } from '../../../src/core/tools/nodeWorkspace.ts';
import { makeWorkspaceTools } from '../../../src/core/tools/workspaceTools.ts';
import type { ModelMessage } from '../../../src/core/session/projection.ts';
import { runWith } from '../agent/turnRig.ts';
import { makeFolder, removeFolders, sampleWorkspace } from '../tools/toolRig.ts';

interface Answer {
  readonly text: string;
  readonly tools: readonly string[];
  readonly statuses: readonly string[];
}

/** Asks through the turn loop, with the real tools on real folders. */
async function askGuide(
  roots: readonly string[],
  question: string,
  earlier: readonly ModelMessage[] = [],
): Promise<Answer> {
  const { state, stopReason } = await runWith(makeOfflineGuide({ paceMs: 0 }), {
    history: [...earlier, { role: 'user', text: question }],
    tools: makeWorkspaceTools(new NodeWorkspace(roots), Date.now),
  });
  assert.equal(stopReason, 'complete');
  return {
    text: state.messages.at(-1)?.text ?? '',
    tools: state.messages.flatMap((row) => (row.toolName === null ? [] : [row.toolName])),
    statuses: state.messages.map((row) => row.status),
  };
}

/** The number of the line in the sample workspace that holds this text. */
function lineOf(path: string, text: string): number {
  const index = readFileSync(join(sampleWorkspace, path), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text));
  assert.notEqual(index, -1, `${path} does not hold ${text}`);
  return index + 1;
}

describe('the offline guide', function () {
  this.timeout(20_000); // a busy machine is no failure

  after(removeFolders);

  for (const [question, path, definition] of [
    ['Where is the rental price calculated?', 'src/pricing.ts', 'function calculateRentalPrice'],
    ['How do members get a discount?', 'src/pricing.ts', 'function applyMemberDiscount'],
    ['What does applyMemberDiscount do?', 'src/pricing.ts', 'function applyMemberDiscount'],
    ['How does a customer start renting?', 'src/rentals.ts', 'function startRental'],
    ['Where is the reservation book?', 'src/reservations.ts', 'class ReservationBook'],
    ['rental_error', 'src/errors.ts', 'class RentalError'],
  ] as const) {
    it(`answers "${question}" with a link to the defining line and its code`, async () => {
      const { text, tools } = await askGuide([sampleWorkspace], question);
      const place = `${path}:${lineOf(path, definition)}`;
      assert.deepEqual(tools, ['search_text', 'read_file']);
      assert.match(
        text,
        new RegExp(`^The best match for .* is \\[${place}\\]\\(${place}\\):\n\n\`\`\`typescript\n`),
      );
      assert.ok(text.includes(definition), text);
      assert.match(text, /not a language model.*`holdfast\.providers`.*\*\*Holdfast: Set API Key\*\*/);
    });
  }

  it('links only to lines that are there and hold what it shows', async () => {
    const { text } = await askGuide([sampleWorkspace], 'Where is the rental price calculated?');
    const links = [...text.matchAll(/- \[([^\]]+):(\d+)\]\(\1:\2\) `+ ?(.*?) ?`+$/gm)];
    assert.ok(links.length >= 3, text);
    for (const [, path = '', line = '', shown = ''] of links) {
      const found = readFileSync(join(sampleWorkspace, path), 'utf8').split('\n')[Number(line) - 1] ?? '';
      assert.ok(found.includes(shown.replace(/…$/, '')), `${path}:${line} ${shown}`);
    }
  });

  for (const [question, expected] of [
    ['Hello!', /^Hello\.\n\nI am the \*\*offline guide\*\*: not a language model/],
    ['thanks', /^You are welcome\./],
    ['Who are you?', /offline guide/],
    ['How do I connect a language model?', /setting `holdfast\.providers`.*Holdfast: Set API Key/],
    ['Where is it?', /no word in your question/],
    ['', /offline guide/],
  ] as const) {
    it(`answers "${question}" without looking for it`, async () => {
      const { text, tools } = await askGuide([sampleWorkspace], question);
      assert.deepEqual(tools, []);
      assert.match(text, expected);
    });
  }

  it('says honestly that it found nothing', async () => {
    const { text, tools } = await askGuide([sampleWorkspace], 'Which penguin sings?');
    assert.deepEqual(tools, ['search_text', 'find_files']);
    assert.match(text, /searched the open workspace for “penguin”, “sings” and found nothing/);
  });

  it('says that no folder is open', async () => {
    const { text, statuses } = await askGuide([], 'Where is the price?');
    assert.deepEqual(statuses, ['complete', 'error', 'complete']);
    assert.match(text, /could not search this workspace: No folder is open/);
    const { state } = await runWith(makeOfflineGuide({ paceMs: 0 }), {
      history: [{ role: 'user', text: 'Where is the price?' }],
    });
    assert.match(state.messages[0]?.text ?? '', /^No folder is open/);
  });

  it('shows a file that is asked for by name', async () => {
    const { text, tools } = await askGuide([sampleWorkspace], 'Show me package.json');
    assert.deepEqual(tools, ['find_files', 'read_file']);
    assert.match(text, /^\[package\.json:1\]\(package\.json:1\):\n\n```json\n\{/);
  });

  it('tells what a workspace holds', async () => {
    const { text, tools } = await askGuide([sampleWorkspace], 'What is this project about?');
    assert.deepEqual(tools, ['list_folder', 'read_file']);
    assert.match(text, /^From \[README\.md:1\]\(README\.md:1\):\n\n> # Pedal Post/);
  });

  it('takes a follow-up without words of its own as one about the question before', async () => {
    const earlier: ModelMessage[] = [
      { role: 'user', text: 'Where is the rental price calculated?' },
      { role: 'assistant', text: 'There.', reasoning: '', toolCalls: [] },
    ];
    const { text } = await askGuide([sampleWorkspace], 'And where is it used?', earlier);
    assert.match(text, /src\/pricing\.ts:/);
  });

  it('finds files by name when no line matches', async () => {
    const folder = await makeFolder({ 'docs/zebra.txt': 'stripes', 'b.ts': 'x' });
    const { text } = await askGuide([folder], 'Where is the zebra?');
    assert.match(text, /these files are named like it:\n\n- \[docs\/zebra\.txt\]\(docs\/zebra\.txt\)/);
  });

  it('writes links and code that stay whole whatever the files hold', async () => {
    const folder = await makeFolder({ 'odd (name)/__a_b__ [1].md': '# Zebra\n\n```ts\nzebra()\n```\n' });
    const { text } = await askGuide([folder], 'zebra');
    assert.ok(
      text.includes('[odd (name)/\\_\\_a\\_b\\_\\_ \\[1\\].md:1](odd%20%28name%29/__a_b__%20[1].md:1)'),
      text,
    );
    assert.ok(text.includes('````markdown\n# Zebra\n\n```ts'), text);
  });

  it('answers in Chinese text and identifiers within it', async () => {
    const folder = await makeFolder({
      'a.ts': '// 计算租金\nexport function rent() {\n  return 1;\n}\n',
      'b.ts': 'rest',
    });
    const { text } = await askGuide([folder], '租金在哪里计算？');
    assert.match(text, /\[a\.ts:2\]\(a\.ts:2\)/);
  });

  it('streams in pieces and stops at once, keeping what came', async () => {
    const controller = new AbortController();
    let pieces = 0;
    const { state, stopReason } = await runWith(makeOfflineGuide({ paceMs: 1 }), {
      signal: controller.signal,
      history: [{ role: 'user', text: 'Hello' }],
      onEvent: (event) => {
        if (event.type === 'textAppended' && (pieces += 1) === 3) controller.abort();
      },
    });
    assert.equal(stopReason, 'stopped');
    assert.equal(pieces, 3);
    assert.deepEqual(
      state.messages.map((row) => row.status),
      ['interrupted'],
    );
  });

  it('gives its calls ids that differ within a chat', async () => {
    const first = await runWith(makeOfflineGuide({ paceMs: 0 }), {
      history: [{ role: 'user', text: 'Where is the price?' }],
      tools: makeWorkspaceTools(new NodeWorkspace([sampleWorkspace]), Date.now),
    });
    const ids = first.state.messages.flatMap((row) => row.toolCalls.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length >= 2);
  });
});
