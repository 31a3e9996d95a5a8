/** What a runtime needs of its window. */
import type { ChatModel } from '../models/chatModel.ts';
import type { ModelPicker } from '../protocol/hostMessages.ts';
import type { Session } from '../session/model.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import type { ChatRuntime } from './chatRuntime.ts';
import type { Timers } from './timers.ts';

export interface RuntimeServices {
  readonly store: Store;
  /** The model for a chat; one that is not available any more answers with an error that says so. */
  readonly model: (modelId: string | null) => ChatModel;
  readonly modelPicker: (modelId: string | null) => ModelPicker;
  /** The tools of a chat. */
  readonly tools: (session: Session) => readonly Tool[];
  readonly system: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly timers: Timers;
  readonly newId: () => string;
  /** Whether a window is still there; one of which that cannot be told counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
  /** Told after a change that lists or timers may care about (running, ended, titled). */
  readonly onChange: (runtime: ChatRuntime) => void;
  readonly log: (line: string) => void;
}
