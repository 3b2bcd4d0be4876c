import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

/** Prefer a folder in memory, because some targets write a file for each input. */
const within = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const prefix = `portico-fuzz-${process.pid}-`;

/** Returns a folder that only this thread uses. */
export function scratch(): string {
  const folder = path.join(within, `${prefix}${threadId}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes the folders of this process. */
export function removeScratch(): void {
  for (const name of readdirSync(within))
    if (name.startsWith(prefix)) rmSync(path.join(within, name), { recursive: true, force: true });
}
