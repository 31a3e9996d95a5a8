/** Imports a TypeScript module, once node_modules is there. In a CommonJS package tsx hands its exports over as default. */
export async function importTypeScript(url) {
  await import('tsx');
  const module = await import(url.href);
  return module.default ?? module;
}
