/** What `holdfast verify` tells people. */
import { plainLine, type Output } from './output.ts';
import type { VerifyReport } from '../core/store/verify/verifyFolder.ts';

export function printReport(report: VerifyReport, output: Output): void {
  const { faults, sessions, messages, frames, skippedFrames, blobs, unnamedBlobs } = report;
  for (const fault of faults) output.print(`FAULT: ${plainLine(fault)}\n`);
  output.print(
    `${sessions} chats with ${messages} messages; ${frames} changes in the journals (${skippedFrames} skipped, which is harmless).\n`,
  );
  if (blobs > 0) {
    output.print(
      `${blobs} files of large contents (${unnamedBlobs} of no chat any more, to be removed by a window).\n`,
    );
  }
  if (report.ok) output.print('Everything is sound.\n');
  else output.print(`${faults.length} faults. Open the store in a window to have it repaired.\n`);
}
