import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { compactSession } from '../../../src/core/runtime/compaction.ts';
import { StoredChats } from '../../../src/core/runtime/earlierChats.ts';
import { DigestMemory } from '../../../src/core/runtime/memory.ts';
import type { Message, Session } from '../../../src/core/session/model.ts';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { archiveLineage } from '../../../src/core/store/lineageChanges.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { makeRecallTool } from '../../../src/core/tools/recall.ts';
import { filesWithoutSync, openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

/** 2026-01-05 and the days after it, in milliseconds. */
const day = (number: number): number => Date.UTC(2026, 0, 5 + number);

describe('recall', function () {
  this.timeout(30_000);
  let store: Store;
  let asking: Session;
  beforeEach(async () => {
    store = await openStore({ files: filesWithoutSync });
    asking = await chat(9, [{ text: 'What did we decide about the brakes?' }]);
  });

  /** A chat of that day; its messages in order. */
  async function chat(
    number: number,
    messages: readonly Partial<Message>[],
    overrides: Partial<Session> = {},
  ): Promise<Session> {
    const session = aSession({ title: `Day ${number}`, workspaceUri: 'file:///w', ...overrides });
    await store.write((writer) => {
      insertSession(writer, { ...session, createdAt: day(number), lastActivityAt: day(number) });
      for (const message of messages) {
        insertMessage(writer, aMessage(session.id, { createdAt: day(number), ...message }));
      }
    });
    return session;
  }

  async function recall(query: string, options: { maxResults?: number; of?: Session } = {}): Promise<string> {
    const { of = asking, ...limits } = options;
    const tool = makeRecallTool(new StoredChats(store, of), () => 0);
    return (await tool.run({ query, ...limits }, { signal: new AbortController().signal })).text;
  }

  it('finds what was said and what was kept, newest chat first, whatever the form of the words', async () => {
    await chat(1, [
      { text: 'Brakes wear out' },
      { role: 'assistant', text: 'First line\nThe brake is worn' },
    ]);
    const kept = await chat(3, [{ text: 'We must oil each brake' }]);
    await new DigestMemory(store, () => day(4)).commit(kept.id, true);
    assert.equal(
      await recall('brakes'),
      [
        '"Day 3", 2026-01-08:',
        '- Kept: - We must oil each brake',
        '- User: We must oil each brake',
        '"Day 1", 2026-01-06:',
        '- Assistant: The brake is worn',
        '- User: Brakes wear out',
      ].join('\n'),
    );
    assert.equal(
      await recall('brakes', { maxResults: 1 }),
      '"Day 3", 2026-01-08:\n- Kept: - We must oil each brake',
    );
  });

  it('looks neither into the chat that asks nor into other workspaces, but into archived chats', async () => {
    await chat(1, [{ text: 'Brakes of elsewhere' }], { workspaceUri: 'file:///other' });
    await chat(2, [{ text: 'Brakes of nowhere' }], { workspaceUri: null });
    const archived = await chat(3, [{ text: 'Brakes of old' }]);
    await store.write((writer) => archiveLineage(writer, archived.id, day(3)));
    const request = { sessionId: asking.id, runtimeId: 'r', windowId: store.windowId, now: day(9) };
    const childId = ulid();
    await store.write((writer) => {
      for (let count = 0; count < 20; count++) {
        insertMessage(writer, aMessage(asking.id, { text: `Brakes here ${count}`, createdAt: day(9) }));
      }
      const lease = acquireLease(writer, { ...request, isWindowAlive: () => true });
      compactSession(writer, { sessionId: asking.id, lease, childId, newId: ulid, now: day(9) });
    });
    const found = '"Day 3", 2026-01-08:\n- User: Brakes of old';
    assert.equal(await recall('brakes'), found);
    assert.equal(await recall('brakes', { of: { ...asking, id: childId } }), found, 'at its tip, too');
    const homeless = await chat(4, [], { workspaceUri: null });
    assert.match(await recall('brakes', { of: homeless }), /^\(This chat was made without a workspace/);
  });

  it('leaves out what no longer stands, what was never sent, and what tools said', async () => {
    await chat(1, [
      { text: 'Brakes, replaced', active: false },
      { text: 'Brakes, not sent', status: 'not_sent' },
      { role: 'tool', text: 'Brakes, from a file', toolCallId: 'c', toolName: 'read_file' },
      { role: 'summary', text: 'Brakes, in a summary' },
      { role: 'assistant', text: 'Brakes, half sai', status: 'interrupted' },
    ]);
    assert.equal(await recall('brakes'), '"Day 1", 2026-01-06:\n- Assistant: Brakes, half sai');
  });

  it('finds what a branch copied where it was said, and in the branch once that is gone', async () => {
    const original = { id: ulid(), text: 'Brakes were said here' };
    await chat(1, [original]);
    await chat(2, [
      { text: original.text, copyOf: original.id },
      { text: 'Brakes of a deleted chat', copyOf: 'gone' },
    ]);
    assert.equal(
      await recall('brakes'),
      [
        '"Day 2", 2026-01-07:',
        '- User: Brakes of a deleted chat',
        '"Day 1", 2026-01-06:',
        '- User: Brakes were said here',
      ].join('\n'),
    );
  });

  it('gives only the passages that hold the most of the words', async () => {
    await chat(1, [{ text: 'Red brakes\nfor the bicycle' }]);
    await chat(2, [{ text: 'Red bells' }, { text: 'Blue brakes' }]);
    assert.equal(await recall('red bicycle brakes'), '"Day 1", 2026-01-06:\n- User: Red brakes');
    assert.equal(
      await recall('red brakes yesterday'),
      '"Day 1", 2026-01-06:\n- User: Red brakes',
      'a word that nobody said hinders nothing',
    );
  });

  it('goes on to older chats for more of the words, and takes nothing less from those after', async () => {
    await chat(1, [{ text: 'Red again' }]);
    await chat(2, [{ text: '  Red brakes first\nRed brakes second' }]);
    await chat(3, [{ text: 'Brakes alone' }]);
    assert.equal(
      await recall('red brakes', { maxResults: 1 }),
      '"Day 2", 2026-01-07:\n- User: Red brakes first',
    );
    assert.equal(await recall('red brakes'), '"Day 2", 2026-01-07:\n- User: Red brakes first');
  });

  it('reaches the first message of a long chat, and gives three passages of one chat at most', async () => {
    const filler = Array.from({ length: 120 }, (_, index) => ({ text: `Nothing ${index}` }));
    await chat(1, [{ text: 'The brakes, long ago' }, ...filler]);
    await chat(
      2,
      Array.from({ length: 5 }, (_, index) => ({ text: `Brakes ${index}` })),
    );
    assert.equal(
      await recall('brakes'),
      [
        '"Day 2", 2026-01-07:',
        '- User: Brakes 4',
        '- User: Brakes 3',
        '- User: Brakes 2',
        '"Day 1", 2026-01-06:',
        '- User: The brakes, long ago',
      ].join('\n'),
    );
  });

  it('shows a long line from a little before the word, and never half a character', async () => {
    await chat(1, [{ text: `${'🚲'.repeat(400)} brakes ${'x'.repeat(600)}` }]);
    const line = (await recall('brakes')).split('\n')[1] ?? '';
    assert.equal(line.length, '- User: '.length + 300);
    assert.match(line, /^- User: …(🚲)+ brakes x+…$/u);
    await chat(1, [{ text: `${'🚲'.repeat(400)}  clamps` }]);
    assert.match(await recall('clamps'), /- User: …(🚲)+ {2}clamps$/u);
    await chat(2, [{ text: `${'word '.repeat(100)}bells and the rest` }]);
    assert.match(await recall('bells'), /\n- User: …(ord |d )?(word ){11,12}bells and the rest$/);
    const exact = `brakes ${'y'.repeat(293)}`;
    await chat(3, [{ text: `${'🚲'.repeat(80)} ${exact}` }, { text: exact }]);
    assert.match(await recall('brakes', { maxResults: 1 }), /\n- User: brakes y{293}$/);
    const short = `${'word '.repeat(58)}the levers`;
    assert.equal(short.length, 300);
    await chat(3, [{ text: short }]);
    assert.equal(await recall('levers'), `"Day 3", 2026-01-08:\n- User: ${short}`);
    await chat(2, [{ text: '刹车片已经磨损' }]);
    assert.equal(await recall('刹车'), '"Day 2", 2026-01-07:\n- User: 刹车片已经磨损');
  });

  it('says when there is nothing, and what it did not look through', async () => {
    await chat(1, [{ text: 'Bells' }]);
    assert.equal(
      await recall('brakes pedals'),
      '(Nothing about brakes pedals in the earlier chats of this workspace.)',
    );
    const tool = makeRecallTool(new StoredChats(store, asking), () => 0);
    const { signal } = new AbortController();
    for (const input of [{ query: '' }, { query: 'the' }, { query: 'x', maxResults: 0 }, {}]) {
      assert.equal((await tool.run(input, { signal })).isError, true, JSON.stringify(input));
    }
    let time = 0;
    const slow = makeRecallTool(new StoredChats(store, asking), () => (time += 3000));
    await chat(2, [{ text: 'Brakes' }]);
    assert.equal(
      (await slow.run({ query: 'brakes' }, { signal })).text,
      '"Day 2", 2026-01-07:\n- User: Brakes\n(Stopped early: 1 older chats were not looked through.)',
    );
    await assert.rejects(tool.run({ query: 'brakes' }, { signal: AbortSignal.abort() }));
  });

  it('stops after so many chats and rows, and tells the model what it can ask', async () => {
    const one = { title: 'Endless', lastActivityAt: 0, memory: null };
    let pages = 0;
    const endless = {
      list: (limit: number) => Array.from({ length: limit }, (_, index) => ({ ...one, id: String(index) })),
      page: () => {
        pages += 1;
        return { messages: [{ author: 'user' as const, text: () => 'Bells' }], next: 'more' };
      },
    };
    const tool = makeRecallTool(endless, () => 0);
    const { text } = await tool.run({ query: 'brakes' }, { signal: new AbortController().signal });
    assert.deepEqual(text.split('\n'), [
      '(Nothing about brakes in the earlier chats of this workspace.)',
      '(Only the newest 500 chats were looked through.)',
      '(Stopped early: 500 older chats were not looked through.)',
    ]);
    assert.equal(pages, 800, '20,000 rows');
    assert.equal(tool.name, 'recall');
    assert.match(tool.description, /earlier chats of this workspace.*Newest chats first.*before this chat/);
    assert.deepEqual(tool.parameters, {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What it was about, in a few words.' },
        maxResults: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
      },
      required: ['query'],
      additionalProperties: false,
    });
    const refused = await tool.run({ query: 'the' }, { signal: new AbortController().signal });
    assert.deepEqual(refused, {
      text: 'the has no words to look for; name what it was about.',
      isError: true,
    });
  });

  it('stops at the newest chats when they hold enough', async () => {
    for (const number of [1, 2, 3]) await chat(number, [{ text: `Brakes ${number}` }]);
    const chats = new StoredChats(store, asking);
    const read: string[] = [];
    const counted = {
      list: (limit: number) => chats.list(limit),
      page: (id: string, before: string | null, limit: number) => {
        const page = chats.page(id, before, limit);
        read.push(...page.messages.map(({ text }) => text()));
        return page;
      },
    };
    const tool = makeRecallTool(counted, () => 0);
    const { text } = await tool.run(
      { query: 'brakes', maxResults: 2 },
      { signal: new AbortController().signal },
    );
    assert.equal(text, '"Day 3", 2026-01-08:\n- User: Brakes 3\n"Day 2", 2026-01-07:\n- User: Brakes 2');
    assert.deepEqual(read, ['Brakes 3', 'Brakes 2']);
  });
});
