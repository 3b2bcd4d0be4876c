import { defineConfig } from 'vitest/config';
import { ENGINES } from './test/support/engines/database-server.ts';

/** What stops the database server that it runs on, which SQLite has none of. */
const SERVER_TESTS = ['test/outage.test.ts'];

/** What runs on every engine: the flows over HTTP, and the contract of the store. */
const ENGINE_TESTS = [
  'test/applications.test.ts',
  'test/audit.test.ts',
  'test/authorization-request.test.ts',
  'test/client-lifecycle.test.ts',
  'test/configuration.test.ts',
  'test/consent.test.ts',
  'test/crashes.test.ts',
  'test/database.test.ts',
  'test/example-apis.test.ts',
  'test/nothing-in-the-clear.test.ts',
  'test/openid-connect.test.ts',
  'test/portal-api.test.ts',
  'test/pruning.test.ts',
  'test/races.test.ts',
  'test/revocation-and-introspection.test.ts',
  'test/schema-upgrade.test.ts',
  'test/states-and-transitions.test.ts',
  'test/store-contract.test.ts',
  'test/token-accessor.test.ts',
  'test/token-endpoint.test.ts',
];

const limits = { testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'sqlite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: SERVER_TESTS,
          ...limits,
        },
      },
      ...installedEngines().map(({ name }) => ({
        test: {
          name,
          include: [...ENGINE_TESTS, ...SERVER_TESTS],
          globalSetup: `test/support/engines/${name}.setup.ts`,
          ...limits,
        },
      })),
    ],
  },
});

/** Those of this machine; under CI and for `npm run test:engines` a missing one is a failure, elsewhere it is said. */
function installedEngines() {
  const missing = ENGINES.filter((engine) => engine.find() === null);
  const names = missing.map(({ label, package: name }) => `${label} (${name})`).join(' and ');
  if (missing.length > 0) {
    if (process.env['CI'] !== undefined || process.env['ENGINES'] === 'all') {
      process.stderr.write(
        `The tests need ${names}, which this machine has not; install Debian's packages.\n`,
      );
      process.exit(1);
    }
    process.stderr.write(
      `Left out on this machine: ${names}. SQLite is tested; npm run test:engines tests all.\n`,
    );
  }
  return ENGINES.filter((engine) => !missing.includes(engine));
}
