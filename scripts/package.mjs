// npm run package: builds, and packages the extension into holdfast-chat.vsix.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { main, prepareProject, root } from './lib/project.mjs';
import { step } from './lib/step.mjs';
import { importTypeScript } from './lib/typescript.mjs';

await main(async () => {
  await prepareProject();
  const { packageExtension } = await importTypeScript(
    new URL('../test/support/vscode/install.ts', import.meta.url),
  );
  const file = join(root, 'holdfast-chat.vsix');
  await step('Packaging', () => packageExtension(file));
  console.log(`holdfast-chat.vsix: ${(statSync(file).size / 1e6).toFixed(2)} MB`);
});
