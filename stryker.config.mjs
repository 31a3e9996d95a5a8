/** Which code of the lifecycle is broken at random, and which tests must notice. Run by scripts/mutations.mjs. */

const modules = {
  'src/core/session': ['reasons'],
  'src/core/runtime': [
    'registry',
    'finalize',
    'ownership',
    'healing',
    'recovery',
    'compaction',
    'branching',
    'earlierChats',
    'following',
    'lostPanel',
    'panelRoutes',
    'workspaceChat',
  ],
  'src/core/tools': ['recall'],
  'src/core/store': [
    'branch',
    'forks',
    'messageCopies',
    'leases',
    'lineage',
    'lineageChanges',
    'routes',
    'reset',
  ],
};

export default {
  testRunner: 'mocha',
  testRunnerNodeArgs: ['--import=tsx'],
  mochaOptions: {
    require: ['./test/core/store/support/stores.ts'],
    // Mocha takes no braces here.
    spec: [
      'test/core/session/reasons.test.ts',
      'test/core/runtime/*.test.ts',
      'test/core/store/branch.test.ts',
      'test/core/store/lineage.test.ts',
      'test/core/store/tables.test.ts',
      'test/core/lifecycle/branches.test.ts',
      'test/core/lifecycle/fieldReports.test.ts',
      'test/core/lifecycle/givingBack.test.ts',
      'test/core/lifecycle/otherWindows.test.ts',
      'test/core/lifecycle/panelRoutes.test.ts',
      'test/core/lifecycle/rows.test.ts',
      'test/core/lifecycle/teardown.test.ts',
      'test/core/lifecycle/windowEdges.test.ts',
    ],
  },
  mutate: Object.entries(modules).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}.ts`)),
  // Only what these tests load is copied.
  ignorePatterns: ['**', '!src/core/**/*.ts', '!test/core/**/*.ts', '!package.json', '!tsconfig.base.json'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 15_000,
  timeoutFactor: 2,
  tempDirName: '.stryker-tmp',
  reporters: ['json', 'clear-text', 'progress-append-only'],
  jsonReporter: { fileName: 'reports/mutation/mutation.json' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  allowConsoleColors: false,
};
