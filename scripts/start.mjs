// npm start [-- FOLDER] [--web] [--port N]: installs what is missing, builds, opens VS Code with the extension. Plain
// JavaScript, because it starts before node_modules exists; the rest is in open/.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareProject, root } from './lib/project.mjs';
import { importTypeScript } from './lib/typescript.mjs';

const usage = `npm start [-- FOLDER] [--web] [--port N]

Opens VS Code with the extension on FOLDER, or on the sample workspace. In this order: an installed desktop VS Code
(with a profile of its own, never yours), one that is downloaded, VS Code in the browser (Linux x64).

  --web      in the browser, even when there is a desktop VS Code
  --port N   the port for that on 127.0.0.1 (default 8484, or a free one when that is taken)`;

/** A mistake in the command line: one sentence and exit code 2. */
class UsageError extends Error {}

function readCommandLine() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: { web: { type: 'boolean' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${usage}`, { cause: error });
  }
  const { values, positionals } = parsed;
  if (positionals.length > 1)
    throw new UsageError(`One folder can be opened, not ${positionals.length}.\n\n${usage}`);
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw new UsageError(`--port wants a number from 1 to 65535, not "${values.port}".`);
  }
  const sample = join(root, 'test', 'fixtures', 'sample-workspace');
  const folder = positionals[0] === undefined ? sample : resolve(process.env.INIT_CWD ?? '.', positionals[0]);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`There is no folder ${folder}`);
  if (!found.isDirectory()) throw new UsageError(`${folder} is a file; npm start opens a folder`);
  return {
    folder,
    isSample: folder === sample,
    web: values.web === true || port !== undefined,
    port,
    help: values.help,
  };
}

try {
  const { help, ...request } = readCommandLine();
  if (help === true) {
    console.log(usage);
  } else {
    await prepareProject();
    const { openEditor } = await importTypeScript(new URL('open/openEditor.ts', import.meta.url));
    process.exitCode = await openEditor(request);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
