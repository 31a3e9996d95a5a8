// npm run shots [-- NAME]: screenshots of the main states, light and dark, into shots/.
import { main, prepareProject } from './lib/project.mjs';
import { importTypeScript } from './lib/typescript.mjs';

await main(async () => {
  await prepareProject();
  const { takeShots } = await importTypeScript(new URL('shots.ts', import.meta.url));
  await takeShots(process.argv[2]);
});
