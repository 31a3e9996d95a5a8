/** What a suite came to. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const passedOne: Outcome = { passed: 1, failed: 0, skipped: 0 };
export const failedOne: Outcome = { passed: 0, failed: 1, skipped: 0 };

export function total(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failed: sum.failed + one.failed,
      skipped: sum.skipped + one.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** A failure that is not a test's: it counts as one, with words, so that no crash can look like success. */
export function failure(words: string): Outcome {
  console.log(`  FAILED: ${words}`);
  return failedOne;
}

export function summary({ passed, failed, skipped }: Outcome): string {
  const counts = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? counts : `${counts}, ${skipped} skipped`;
}
