/** Opens a store, or reads its files. Argument: the folder. Answers are milliseconds. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { answerQuestions } from '../answering.ts';
import { timed } from '../statistics.ts';
import { openStore } from '../stores.ts';

const readFile = promisify(fs.readFile);
const [folder = ''] = process.argv.slice(2);

answerQuestions({
  open: () =>
    timed(async () => {
      await openStore(folder, null, { followInterval: 0 });
    }),
  read: async () => {
    const names = fs.readdirSync(folder).filter((name) => /^(state|journal)-/.test(name));
    const took = await timed(async () => {
      for (const name of names) await readFile(path.join(folder, name));
    });
    global.gc?.();
    return took;
  },
});
