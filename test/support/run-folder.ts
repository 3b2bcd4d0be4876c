import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

let folder: string | undefined;
let projects = 0;

/**
 * Gives all tests of a run one temporary folder, which goes with the run: what a killed process
 * leaves behind stays in no other place.
 */
export function setup(): () => void {
  projects++;
  if (folder === undefined) {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-tests-'));
    // Servers and tests of ownership run as other accounts.
    chmodSync(folder, 0o1777);
    process.env['TMPDIR'] = folder;
  }
  return () => {
    projects--;
    if (projects > 0 || folder === undefined) return;
    rmSync(folder, { recursive: true, force: true });
  };
}
