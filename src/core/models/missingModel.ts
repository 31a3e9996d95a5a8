/** Stands for a model that a chat remembers and the settings no longer have: it answers with what to do about that. */
import { ModelError, type ChatModel } from './chatModel.ts';

export function makeMissingModel(id: string): ChatModel {
  return {
    id,
    name: id,
    // eslint-disable-next-line require-yield -- a stream that fails before its first event
    async *stream() {
      throw new ModelError(
        'provider',
        `The model ${id} is not in your settings any more. Choose another one at the foot of the panel, then press Retry.`,
      );
    },
  };
}
