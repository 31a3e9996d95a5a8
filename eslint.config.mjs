/** Style is prettier's. Here: what breaks programs, and the fences between folders (who may import whom: ARCHITECTURE.md). */
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const noVscode = { name: 'vscode', message: 'Only src/extension may import vscode; use a port.' };

/** A fence: files in `folder` may not import what matches one of `patterns`. */
function fence(folder, patterns, paths = [noVscode]) {
  return {
    files: [`src/${folder}/**/*.{ts,tsx}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths,
          patterns: patterns.map((regex) => ({
            regex,
            message: `Not allowed in src/${folder}: see ARCHITECTURE.md.`,
          })),
        },
      ],
    },
  };
}

const editorLayers = '/(extension|webview|cli)/';
const nodeBuiltIn = '^(node:|fs$|path$|os$|crypto$|child_process$)';

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'out/',
      'shots/',
      'reports/',
      'coverage/',
      '.holdfast-dev/',
      '.vscode-test/',
      '.stryker-tmp/',
      '**/node_modules/',
      'test/fixtures/',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        AbortController: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['describe', 'it', 'test'], package: 'node:test' },
          ],
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'error',
      // Callers await an interface; whether one implementation needs to is its own matter.
      '@typescript-eslint/require-await': 'off',
      // Prettier breaks lines so that this cannot happen by mistake.
      'no-unexpected-multiline': 'off',
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that defines it.' },
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
      ],
    },
  },
  fence('core/session', [editorLayers, '/(store|runtime|agent|models|tools|search|protocol)/', nodeBuiltIn]),
  fence('core/protocol', [editorLayers, '/(store|runtime|agent|models|tools|search)/', nodeBuiltIn]),
  fence('core/store', [editorLayers, '/(runtime|agent|models|tools|search|protocol)/']),
  fence('core/models', [editorLayers, '/(store|runtime|agent|search)/']),
  fence('core/tools', [editorLayers, '/(store|runtime|agent|search)/']),
  fence('core/agent', [editorLayers, '/(store|runtime|search)/']),
  fence('core/runtime', [editorLayers]),
  fence('cli', ['/(extension|webview)/']),
  fence('webview', ['/(extension|cli)/', '/core/(store|runtime|agent|models|tools|search)/', nodeBuiltIn]),
  fence('extension', ['/(webview|cli)/'], []),
  {
    files: ['src/extension/**/*.ts'],
    ignores: ['src/extension/smallMemory.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['globalState', 'workspaceState'].map((property) => ({
          property,
          message:
            'The editor loads all of a Memento at its start: chats and what belongs to them go to the store.',
        })),
      ],
    },
  },
);
