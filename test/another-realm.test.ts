// @engines sqlite, long: it starts Vitest, and the database makes no difference
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from './support/console.ts';

const run = promisify(execFile);

test('an application works in tests that run in a context of node:vm, as Jest runs them', async () => {
  const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const root = path.join(import.meta.dirname, 'fixtures', 'another-realm');
  // Without the variables of the test that runs now.
  const env = { PATH: process.env['PATH'] };
  const { stdout } = await run(process.execPath, [vitest, 'run', '--root', root], { env });
  expect(stdout).toContain('1 passed');
});
