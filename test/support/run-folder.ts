import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MADE = 'PORTICO_TEST_FOLDER';
const PREFIX = 'portico-tests-';

/**
 * Gives all tests of a run one temporary folder, and removes it after the run. Killed processes
 * leave files only there. Each project calls this function, and the first one creates the folder.
 * If a run is killed, the next run removes its folder.
 */
export function setup(): () => void {
  if (process.env[MADE] !== undefined) return () => {};
  removeLeft();
  const folder = mkdtempSync(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Servers and tests of file ownership run under other accounts.
  chmodSync(folder, 0o1777);
  process.env[MADE] = folder;
  process.env['TMPDIR'] = folder;
  return () => {
    delete process.env[MADE];
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The name of a run's folder begins with the id of its process. */
function removeLeft(): void {
  for (const folder of globSync(path.join(tmpdir(), `${PREFIX}*-*`))) {
    const id = path.basename(folder).slice(PREFIX.length).split('-')[0] ?? '';
    if (/^\d+$/.test(id) && !isRunning(Number(id)))
      rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
