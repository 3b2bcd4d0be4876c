import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MADE = 'PORTICO_TEST_FOLDER';

/**
 * Gives all tests of a run one temporary folder, which is removed at the end of the run. So files
 * of a killed process are removed, too. Each project calls this, and the first call creates the
 * folder.
 */
export function setup(): () => void {
  if (process.env[MADE] !== undefined) return () => {};
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-tests-'));
  // Everyone may write here, because servers and some tests run under other accounts.
  chmodSync(folder, 0o1777);
  process.env[MADE] = folder;
  process.env['TMPDIR'] = folder;
  return () => {
    delete process.env[MADE];
    rmSync(folder, { recursive: true, force: true });
  };
}
