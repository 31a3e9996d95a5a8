/** The worker that makes snapshots, built as the product has it. */
import { buildNodeProgram } from './nodeProgram.ts';

/** Builds it into the folder. Gives the file. */
export function buildCheckpointWorker(folder: string): Promise<string> {
  return buildNodeProgram(folder, 'checkpoint', 'src/core/store/checkpointWorker.ts');
}
