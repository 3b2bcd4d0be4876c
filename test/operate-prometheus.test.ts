// @engines sqlite, long: it starts Prometheus, and a database server of its own
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { OPERATE } from './support/operate.ts';

describe('promtool', () => {
  test.each([
    ['takes the rules', ['check', 'rules', 'alerts.yml']],
    ['takes the configuration', ['check', 'config', 'prometheus.yml']],
    [
      'sees each rule fire on its fault alone, and none while all is well',
      ['test', 'rules', 'alerts.test.yml'],
    ],
  ])('%s', async (_, args) => {
    const { stdout } = await promisify(execFile)('promtool', args, { cwd: OPERATE });
    expect(stdout).toContain('SUCCESS');
  });
});
