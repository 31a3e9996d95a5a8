import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { RefusedError } from '../../../src/core/runtime/problems.ts';
import { recoverInterrupted } from '../../../src/core/runtime/recovery.ts';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { getSession, listChats } from '../../../src/core/store/sessions.ts';
import { ModelError } from '../../../src/core/models/chatModel.ts';
import { until } from '../store/support/stores.ts';
import { Kit, newChat, openStore, RecordingViewer } from './kit.ts';

describe('A chat in one window', () => {
  let kit: Kit;
  beforeEach(() => {
    kit = new Kit();
  });
  afterEach(() => kit.close());

  it('writes nothing while there is nothing to keep', async () => {
    const window = await kit.window();
    const before = window.store.seq;
    const { runtime, viewer } = await newChat(window);
    runtime.setDraft({ text: '', caret: 0, scroll: 12, editedAt: 5 });
    await window.registry.detach(runtime, viewer, 'disposed');
    assert.equal(window.store.seq, before);
  });

  it('has the prompt on disk before the model is asked', async () => {
    const window = await kit.window();
    const { runtime } = await newChat(window);
    const observed: unknown[] = [];
    kit.model.onRequest = () => {
      const rows = window.store.read((reader) => listMessages(reader, runtime.session.id));
      const prompt = rows.find((message) => message.role === 'user');
      observed.push([prompt?.text, promptSeq <= window.store.durableSeq]);
    };
    let promptSeq = Number.POSITIVE_INFINITY;
    const sending = runtime.send(ulid(), 'Where is my bicycle?');
    promptSeq = window.store.seq;
    await sending;
    kit.model.answer('In the shed.');
    await window.registry.shutDown();
    assert.deepEqual(observed, [['Where is my bicycle?', true]]);
  });

  it('stores a whole turn once, shows it saved, titled by its prompt', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    const messageId = ulid();
    await runtime.send(messageId, 'Where is\nmy bicycle?');
    await runtime.send(messageId, 'Where is\nmy bicycle?');
    kit.model.answer('In the shed.');
    await viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    const rows = window.store.read((reader) => listMessages(reader, runtime.session.id));
    assert.deepEqual(
      rows.map(({ seq, role, status, text }) => [seq, role, status, text]),
      [
        [1, 'user', 'complete', 'Where is\nmy bicycle?'],
        [2, 'assistant', 'complete', 'In the shed.'],
      ],
    );
    const { title, titleSource, messageCount, preview } = runtime.session;
    assert.deepEqual(
      { title, titleSource, messageCount, preview },
      { title: 'Where is', titleSource: 'auto', messageCount: 2, preview: 'Where is' },
    );
    assert.deepEqual(viewer.state?.messages, rows);
  });

  it('goes on in the background when its panel is closed, and a later viewer sees it whole', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Tell me a story');
    kit.model.play({ type: 'text', text: 'Once ' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'Once ');
    await window.registry.detach(runtime, viewer, 'disposed');
    kit.model.play({ type: 'text', text: 'upon ' });
    const again = new RecordingViewer();
    window.registry.attach(await window.registry.open(runtime.session.id), again);
    kit.model.answer('a time.');
    await again.shows((state) => state.turn === null && state.unsaved.length === 0);
    assert.equal(again.state?.messages.at(-1)?.text, 'Once upon a time.');
    const stored = window.store.read((reader) => listMessages(reader, runtime.session.id)).at(-1);
    assert.equal(stored?.text, 'Once upon a time.');
  });

  it('gives its runtime back when nothing shows it and nothing runs, and opens again as it was', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    await viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    await window.registry.detach(runtime, viewer, 'disposed');
    assert.equal(window.registry.get(runtime.session.id), undefined);
    const again = await window.registry.open(runtime.session.id);
    assert.deepEqual([again.state.messages, again.session.endReason], [runtime.state.messages, null]);
  });

  it('keeps the text so far when the user stops, in memory and in the store', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Count');
    kit.model.play({ type: 'text', text: 'one, two' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'one, two');
    await runtime.stop();
    const rows = window.store.read((reader) => listMessages(reader, runtime.session.id));
    assert.deepEqual(
      rows.map(({ status, text }) => [status, text]),
      [
        ['complete', 'Count'],
        ['interrupted', 'one, two'],
      ],
    );
  });

  it('keeps the prompt when the provider fails, and a retry asks again with the failed row out of the way', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Work?');
    kit.model.play(new ModelError('provider', 'Out of order.'));
    await viewer.shows((state) => state.turn === null && state.messages.at(-1)?.status === 'error');
    await runtime.retry();
    kit.model.answer('Yes.');
    await viewer.shows((state) => state.turn === null && state.messages.at(-1)?.text === 'Yes.');
    await runtime.flush();
    const rows = window.store.read((reader) => listMessages(reader, runtime.session.id));
    assert.deepEqual(
      rows.map(({ status, text, active, problem }) => [status, text, active, problem?.message ?? null]),
      [
        ['complete', 'Work?', true, null],
        ['error', '', false, 'Out of order.'],
        ['complete', 'Yes.', true, null],
      ],
    );
    assert.deepEqual(kit.model.requests.at(-1)?.messages, [{ role: 'user', text: 'Work?' }]);
  });

  it('refuses what cannot be done now, and nothing changes', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    const reason = async (action: () => Promise<void>): Promise<string> => {
      const before = window.store.seq;
      try {
        await action();
        return 'done';
      } catch (error) {
        assert.equal(window.store.seq, before);
        return error instanceof RefusedError ? error.reason : String(error);
      }
    };
    const reasons = [await reason(() => runtime.send(ulid(), ' \n')), await reason(() => runtime.retry())];
    await runtime.send(ulid(), 'Hello');
    reasons.push(await reason(() => runtime.send(ulid(), 'Impatient')));
    kit.model.answer('Hi');
    await viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    await window.registry.archive(runtime.session.id);
    const archived = await window.registry.open(runtime.session.id);
    reasons.push(await reason(() => archived.send(ulid(), 'Still there?')));
    assert.deepEqual(reasons, ['empty', 'nothing_to_do', 'running', 'archived']);
  });

  it('lets no prompt overtake one that is being stored, and has nothing to stop while nothing runs', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    const received = viewer.received.length;
    await runtime.stop();
    assert.equal(viewer.received.length, received);
    const [first, second] = await Promise.allSettled([
      runtime.send(ulid(), 'One'),
      runtime.send(ulid(), 'Two'),
    ]);
    assert.equal(first.status, 'fulfilled');
    assert.ok(second.status === 'rejected' && second.reason instanceof RefusedError);
    assert.equal(second.reason.reason, 'running');
    kit.model.answer('Done');
    await runtime.answered();
    assert.deepEqual(
      window.store.read((reader) => listMessages(reader, runtime.session.id)).map(({ text }) => text),
      ['One', 'Done'],
    );
  });

  it('has all that a model gives on disk while it goes on: the row, its thoughts, its calls', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Go');
    const { turn } = viewer.state ?? {};
    assert.ok(typeof turn?.id === 'string' && turn.startedAt > 0);
    assert.equal(turn.phase, 'waiting');
    const stored = () =>
      window.store.read((reader) => listMessages(reader, runtime.session.id)).at(-1) ?? null;
    assert.deepEqual([stored()?.role, stored()?.status], ['assistant', 'streaming']);
    const call = { id: 'call', name: 'readFile', arguments: '{}' };
    kit.model.play({ type: 'reasoning', text: 'Hm' }, { type: 'toolCall', call });
    await viewer.shows((state) => state.messages.at(-1)?.toolCalls.length === 1);
    assert.deepEqual([stored()?.reasoning, stored()?.toolCalls], ['Hm', [call]]);
    assert.equal(viewer.state?.turn?.phase, 'streaming');
    kit.model.play({ type: 'reasoning', text: ', so.' });
    await until(() => stored()?.reasoning === 'Hm, so.');
    await runtime.stop();
  });

  it('is listed as archived once archived, opens read-only, and goes on under the same id once reopened', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    await viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    await window.registry.archive(runtime.session.id);
    assert.equal(viewer.reclaims, 1);
    const listed = (archived: boolean) =>
      window.store
        .read((reader) => listChats(reader, { archived, limit: 10 }))
        .map(({ session }) => session.id);
    assert.deepEqual([listed(false), listed(true)], [[], [runtime.session.id]]);
    const again = await window.registry.open(runtime.session.id);
    assert.equal(again.session.endReason, 'archived');
    await window.registry.reopen(again.session.id);
    await again.send(ulid(), 'And again');
    kit.model.answer('Hi again');
    assert.deepEqual([listed(false), listed(true)], [[runtime.session.id], []]);
    assert.equal(window.store.read((reader) => getSession(reader, runtime.session.id))?.endedAt, null);
  });

  it('becomes a stored chat with its first draft, and tells its viewers so', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    runtime.setDraft({ text: 'Hm', caret: 2, scroll: null, editedAt: 1 });
    await runtime.flush();
    const [listed] = window.store.read((reader) => listChats(reader, { limit: 10 }));
    assert.deepEqual([listed?.session.id, listed?.hasDraft], [runtime.session.id, true]);
    assert.deepEqual(viewer.state?.session, listed?.session);
  });

  it('keeps a draft, not a sent text, whichever copy comes back', async () => {
    const window = await kit.window();
    const { runtime } = await newChat(window);
    const typed = { text: 'Half a thou', caret: 11, scroll: null, editedAt: 100 };
    runtime.setDraft(typed);
    await runtime.flush();
    const stored = () => window.store.read((reader) => getDraft(reader, runtime.session.id))?.draft;
    assert.deepEqual(stored(), typed);
    await runtime.send(ulid(), 'Half a thought');
    runtime.setDraft(typed); // a page restored from before the send
    await runtime.flush();
    assert.deepEqual([stored()?.text, runtime.draft.text], ['', '']);
    kit.model.answer('ok');
  });

  it('streams text to disk within the loss bound, and a dead window leaves it as interrupted', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Go');
    kit.model.play({ type: 'text', text: 'one ' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'one ');
    const other = await openStore(kit.folder);
    const stored = () => other.read((reader) => listMessages(reader, runtime.session.id)).at(-1);
    const start = performance.now();
    while (stored()?.text !== 'one ') {
      assert.ok(performance.now() - start < 2000, 'the text never came to the store');
      await new Promise(setImmediate);
    }
    assert.equal(await recoverInterrupted(other, () => true, 9), 0, 'a live window streams on');
    assert.equal(await recoverInterrupted(other, () => false, 9), 1);
    assert.deepEqual([stored()?.status, stored()?.text, stored()?.finishedAt], ['interrupted', 'one ', 9]);
    await other.close();
    kit.model.answer('');
  });
});
