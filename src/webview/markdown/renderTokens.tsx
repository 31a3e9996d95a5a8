/** markdown-it tokens to elements. What has no rule here is shown as its text: there is no way to markup of the answer's choice. */
import { h, type ComponentChild } from 'preact';
import type { Token } from 'markdown-it';
import { words } from '../words.ts';
import { CodeBlock } from './codeBlock.tsx';
import { Link } from './link.tsx';
import { toFileLink, toLink } from './links.ts';

/** Elements made from a pair of tokens, by the opening token's type. */
const elements: Readonly<Record<string, string>> = {
  paragraph_open: 'p',
  blockquote_open: 'blockquote',
  bullet_list_open: 'ul',
  list_item_open: 'li',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
  strong_open: 'strong',
  em_open: 'em',
  s_open: 's',
};

/** `file.ts:12` in running text; only with a line, plain names stay text. */
const fileWithLine = /(?<![\w/.-])(?:[\w@~.-]+\/)*[\w@~.-]+\.[a-z]\w{0,9}:\d+\b/gi;

const taskMark = /^\[([ xX])\](?:\s+|$)/;

interface OpenElement {
  readonly token: Token;
  readonly children: ComponentChild[];
}

export function renderTokens(tokens: readonly Token[], isOpen: boolean): ComponentChild[] {
  const root: ComponentChild[] = [];
  const stack: OpenElement[] = [];
  for (const token of tokens) {
    const target = stack.at(-1)?.children ?? root;
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const closed = stack.pop();
      const outer = stack.at(-1)?.children ?? root;
      if (closed !== undefined) outer.push(renderElement(closed, stack));
    } else target.push(renderLeaf(token, isOpen, stack));
  }
  return root;
}

function renderElement({ token, children }: OpenElement, parents: readonly OpenElement[]): ComponentChild {
  const tag = elements[token.type];
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? children : h('p', null, children);
    case 'heading_open':
      return renderHeading(token.tag, children);
    case 'ordered_list_open':
      return h('ol', { start: Number(token.attrGet('start') ?? 1) }, children);
    case 'table_open':
      return h('div', { class: 'table-scroll', tabIndex: 0, role: 'group' }, h('table', null, children));
    case 'th_open':
    case 'td_open':
      return h(token.tag === 'th' ? 'th' : 'td', { class: alignment(token) }, children);
    case 'link_open':
      return renderLink(attribute(token, 'href'), children, parents);
    default:
      return tag === undefined ? children : h(tag, null, children);
  }
}

function renderLeaf(token: Token, isOpen: boolean, parents: readonly OpenElement[]): ComponentChild {
  switch (token.type) {
    case 'inline':
      return renderInline(token, isOpen, parents);
    case 'text':
      return parents.some(isLink) ? token.content : linkFiles(token.content);
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return h('br', null);
    case 'hr':
      return h('hr', null);
    case 'code_inline':
      return renderInlineCode(token.content, parents);
    case 'fence':
    case 'code_block':
      return (
        <CodeBlock
          code={token.content.replace(/\n$/, '')}
          language={token.info.trim().split(/[\s{,]/)[0] ?? ''}
          isOpen={isOpen}
        />
      );
    case 'image':
      // Pictures of an answer would be fetched from anywhere: the address is offered as a link instead.
      return renderLink(attribute(token, 'src'), [token.content || words.image], parents);
    default:
      return token.content;
  }
}

/** An answer's headings are below the panel's own. */
function renderHeading(tag: string, children: ComponentChild[]): ComponentChild {
  const level = Number(tag.slice(1)) || 1;
  return h('div', { class: `heading heading-${level}`, role: 'heading', 'aria-level': level + 1 }, children);
}

/** `[ ]` and `[x]` in front of a list item make it a task. */
function renderInline(token: Token, isOpen: boolean, parents: readonly OpenElement[]): ComponentChild {
  const [first, ...rest] = token.children ?? [];
  const mark = first?.type === 'text' && isStartOfItem(parents) ? taskMark.exec(first.content) : null;
  if (first === undefined || mark === null) return renderTokens(token.children ?? [], isOpen);
  const isDone = mark[1] !== ' ';
  const label = isDone ? words.taskDone : words.taskOpen;
  return [
    h('input', { type: 'checkbox', class: 'task', disabled: true, checked: isDone, 'aria-label': label }),
    linkFiles(first.content.slice(mark[0].length)),
    ...renderTokens(rest, isOpen),
  ];
}

function isStartOfItem(parents: readonly OpenElement[]): boolean {
  const [item, paragraph] = parents.slice(-2);
  return (
    item?.token.type === 'list_item_open' && item.children.length === 0 && paragraph?.children.length === 0
  );
}

function renderLink(
  href: string,
  children: ComponentChild[],
  parents: readonly OpenElement[],
): ComponentChild {
  const link = toLink(href);
  return link === null || parents.some(isLink) ? children : <Link link={link}>{children}</Link>;
}

function renderInlineCode(code: string, parents: readonly OpenElement[]): ComponentChild {
  const element = h('code', null, code);
  const link = toFileLink(code);
  return link === null || parents.some(isLink) ? element : <Link link={link}>{element}</Link>;
}

function linkFiles(text: string): ComponentChild {
  const pieces: ComponentChild[] = [];
  let end = 0;
  for (const match of text.matchAll(fileWithLine)) {
    const link = toFileLink(match[0]);
    if (link === null) continue;
    pieces.push(text.slice(end, match.index), <Link link={link}>{match[0]}</Link>);
    end = match.index + match[0].length;
  }
  return end === 0 ? text : [...pieces, text.slice(end)];
}

function isLink({ token }: OpenElement): boolean {
  return token.type === 'link_open' && toLink(attribute(token, 'href')) !== null;
}

function alignment(token: Token): string {
  const align = /text-align:(\w+)/.exec(attribute(token, 'style'))?.[1];
  return align === undefined ? '' : `align-${align}`;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}
