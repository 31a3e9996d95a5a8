/** ULIDs for transactions, made from pooled randomness: the `ulid` package asks the system for each character by itself, which was the largest part of a commit. */
import * as crypto from 'node:crypto';
import { monotonicFactory } from 'ulid';

const poolSize = 4096;

/** Each maker is independent; ids of one maker only grow. */
export function makeTransactionIds(): () => string {
  const pool = Buffer.alloc(poolSize);
  let used = poolSize;
  const random = (): number => {
    if (used === poolSize) {
      crypto.randomFillSync(pool);
      used = 0;
    }
    const value = pool[used] ?? 0;
    used += 1;
    return value / 256;
  };
  const make = monotonicFactory(random);
  return () => make();
}
