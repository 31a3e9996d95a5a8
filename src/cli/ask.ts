/**
 * `holdfast ask`: sends a prompt and streams the answer, with the runtime of the panels. The answer is printed as it comes and
 * stored as it comes; whatever ends this process, what was stored stays.
 */
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ulid } from 'ulid';
import type { ChatModel } from '../core/models/chatModel.ts';
import { offlineGuideId, makeOfflineGuide } from '../core/models/offlineGuide.ts';
import { makeOpenAiCompatibleModel } from '../core/models/openAiCompatible.ts';
import { defaultIdleTimeoutMs } from '../core/models/catalog.ts';
import type { ChatRuntime } from '../core/runtime/chatRuntime.ts';
import { StoredChats } from '../core/runtime/earlierChats.ts';
import { LifecycleHooks } from '../core/runtime/hooks.ts';
import { DigestMemory } from '../core/runtime/memory.ts';
import { defaultLimits, RuntimeRegistry } from '../core/runtime/registry.ts';
import { Rescue, rescuePlaces } from '../core/runtime/rescue.ts';
import { messageOf } from '../core/runtime/problems.ts';
import { systemPrompt } from '../core/runtime/systemPrompt.ts';
import { systemTimers } from '../core/runtime/timers.ts';
import { answerTo } from '../core/session/answer.ts';
import { requireSession } from '../core/store/sessions.ts';
import type { Store } from '../core/store/store.ts';
import { NodeWorkspace } from '../core/tools/nodeWorkspace.ts';
import { makeRecallTool } from '../core/tools/recall.ts';
import { makeWorkspaceTools } from '../core/tools/workspaceTools.ts';
import { AnswerPrinter } from './answerPrinter.ts';
import { printJson, type Output } from './output.ts';

/** An OpenAI-compatible server. */
interface AskEndpoint {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

export interface AskRequest {
  readonly text: string;
  /** Null: a new chat. */
  readonly sessionId: string | null;
  /** Null: the offline guide answers. */
  readonly endpoint: AskEndpoint | null;
  /** The folder whose files the tools may read; absolute. */
  readonly folder: string;
  readonly json: boolean;
  /** Aborted with an `AskEnding` when the answer is to end early. */
  readonly signal: AbortSignal;
}

/** `stop`: the user, or whoever reads the output, has seen enough; `cleanup`: the process is told to go. */
export type AskEnding = 'stop' | 'cleanup';

export type AskOutcome = 'complete' | 'failed' | 'interrupted';

/** Rejects with UnknownSessionError, RefusedError (archived, written by another window) and StoreErrors; then nothing was asked. */
export async function ask(store: Store, request: AskRequest, output: Output): Promise<AskOutcome> {
  const { text, sessionId, json, signal } = request;
  if (sessionId !== null) store.read((reader) => requireSession(reader, sessionId));
  if (signal.aborted) return 'interrupted';
  const log = (line: string): void => output.complain(`${line}\n`);
  const memory = new DigestMemory(store, Date.now);
  const registry = makeRegistry(store, request, memory, log);
  const runtime =
    sessionId === null
      ? await registry.openOrCreate(newChat(request.folder))
      : await registry.open(sessionId);
  const printer = new AnswerPrinter(json ? () => undefined : (piece) => output.print(piece));
  registry.attach(runtime, printer);
  const promptId = ulid();
  await runtime.send(promptId, text);
  output.complain(`session ${runtime.session.id}\n`);

  const stopReason = await Promise.race([runtime.answered(), aborted(signal)]);
  if (signal.aborted && signal.reason === 'cleanup') await registry.shutDown();
  else await giveBack(runtime, memory, log);
  printer.end();

  const answer = answerTo(runtime.state.messages, promptId);
  const problem = runtime.state.savingProblem ?? answer?.problem ?? null;
  if (json) {
    const { id } = runtime.session;
    printJson(output, { sessionId: id, status: answer?.status ?? null, text: printer.text, problem });
  }
  if (problem !== null) output.complain(`${problem.message}\n`);
  // The sentences of models are stored with the chat, and written for its panel.
  if (answer?.problem != null) {
    const { id } = runtime.session;
    output.complain(`From here: ask again with --session ${id}; --api-key-env names a key.\n`);
  }
  if (runtime.hasUnwritten) return 'failed';
  if (stopReason === 'complete') return 'complete';
  return stopReason === 'error' ? 'failed' : 'interrupted';
}

function makeRegistry(
  store: Store,
  { endpoint, folder }: AskRequest,
  memory: DigestMemory,
  log: (line: string) => void,
): RuntimeRegistry {
  const model = modelOf(endpoint);
  const tools = makeWorkspaceTools(new NodeWorkspace([folder]), Date.now);
  return new RuntimeRegistry({
    store,
    model: () => model,
    // An endpoint of the command line is not remembered with the chat: a panel would not find it in its settings.
    modelPicker: (modelId) => ({ choices: [], selectedId: modelId ?? offlineGuideId, problem: null }),
    tools: (session) => [...tools, makeRecallTool(new StoredChats(store, session), () => systemTimers.now())],
    system: () => systemPrompt(path.basename(folder), 'a terminal'),
    now: Date.now,
    newId: ulid,
    isWindowAlive: (windowId) => store.isWindowAlive(windowId),
    timers: systemTimers,
    hooks: new LifecycleHooks(log),
    memory,
    rescue: new Rescue({
      storeFolder: store.folder,
      places: rescuePlaces(store.folder),
      newId: ulid,
      now: Date.now,
      log,
    }),
    limits: () => defaultLimits,
    log,
  });
}

function modelOf(endpoint: AskEndpoint | null): ChatModel {
  if (endpoint === null) return makeOfflineGuide({});
  const { baseUrl, model, apiKey } = endpoint;
  return makeOpenAiCompatibleModel({
    id: model,
    name: model,
    providerName: new URL(baseUrl).host,
    baseUrl,
    modelId: model,
    apiKey: () => Promise.resolve(apiKey),
    idleTimeoutMs: defaultIdleTimeoutMs,
  });
}

function newChat(folder: string) {
  return {
    id: ulid(),
    source: 'cli' as const,
    workspaceUri: pathToFileURL(folder).toString(),
    workspaceName: path.basename(folder),
    modelId: null,
  };
}

/** The answer is over, or the user stopped it. That is no cleanup: the row stays open. */
async function giveBack(
  runtime: ChatRuntime,
  memory: DigestMemory,
  log: (line: string) => void,
): Promise<void> {
  await runtime.stop();
  await runtime.flush();
  try {
    await memory.commit(runtime.session.id, true);
  } catch (error) {
    log(`What this chat was about was not kept for later ones: ${messageOf(error)}`);
  }
  await runtime.release();
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
