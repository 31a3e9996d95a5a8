/** Every benchmark there is. A new one is added here; ask for it by its name or its group's. */
import type { Benchmark } from './benchmark.ts';
import { firstPaint5000 } from './page/firstPaint.ts';
import { append1, append16, appendW1 } from './store/append.ts';
import { append4p } from './store/append4p.ts';
import { blockW2 } from './store/blockW2.ts';
import { exportW2 } from './store/exportW2.ts';
import { imageW2 } from './store/imageW2.ts';
import { listW4 } from './store/listW4.ts';
import { openChatB52 } from './store/openChatB52.ts';
import { openChatW5 } from './store/openChatW5.ts';
import { openW2 } from './store/openW2.ts';
import { rssW2 } from './store/rssW2.ts';
import { streamBytes } from './store/streamBytes.ts';
import { worstInsertW2 } from './store/worstInsertW2.ts';
import { idleCost } from './windows/idleCost.ts';
import { mirrorLag } from './windows/mirrorLag.ts';

export const benchmarks: readonly Benchmark[] = [
  append1,
  append16,
  append4p,
  appendW1,
  openW2,
  blockW2,
  worstInsertW2,
  imageW2,
  exportW2,
  openChatW5,
  openChatB52,
  listW4,
  streamBytes,
  rssW2,
  firstPaint5000,
  mirrorLag,
  idleCost,
];
