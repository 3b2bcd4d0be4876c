import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MADE = 'PORTICO_TEST_FOLDER';

/**
 * Gives all tests of a run one temporary folder, which goes with the run: what a killed process
 * leaves behind stays in no other place. Each project calls this; the first one makes the folder.
 */
export function setup(): () => void {
  if (process.env[MADE] !== undefined) return () => {};
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-tests-'));
  // Servers and tests of ownership run as other accounts.
  chmodSync(folder, 0o1777);
  process.env[MADE] = folder;
  process.env['TMPDIR'] = folder;
  return () => {
    delete process.env[MADE];
    rmSync(folder, { recursive: true, force: true });
  };
}
