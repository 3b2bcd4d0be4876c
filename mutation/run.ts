import { Stryker } from '@stryker-mutator/core';
const files = process.argv.slice(2);
const name = process.env['AREA'] ?? 'x';
await new Stryker({
  mutate: files,
  testRunner: 'every-mutant',
  plugins: ['@stryker-mutator/vitest-runner', import.meta.resolve('./runner.ts'), import.meta.resolve('./words.ts')],
  ignorers: ['words'],
  vitest: { configFile: 'mutation/vitest.config.ts', related: false },
  buildCommand: 'node mutation/build.ts',
  tsconfigFile: 'none.json',
  symlinkNodeModules: false,
  disableTypeChecks: 'src/**/*.ts',
  ignorePatterns: ['bench', 'site', 'docs', 'dist', '.dist', '.build', 'test/clients', 'test/bundlers', '.stryker-tmp', 'reports'],
  concurrency: 1,
  reporters: ['progress-append-only', 'json'],
  jsonReporter: { fileName: `reports/${name}.json` },
  cleanTempDir: 'always',
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  dryRunTimeoutMinutes: 600,
  timeoutMS: 20_000,
  timeoutFactor: 4,
  allowConsoleColors: false,
} as never).runMutationTest();
