import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Downloads packages of PyPI with known hashes, with pip in a separate environment, and uses the
 * result. `args` returns pip's command and its target for a new folder below `parent`. The folder
 * is removed at the end, so move what you want to keep.
 */
export async function withPackages(
  requirements: string,
  parent: string,
  args: (folder: string) => readonly [command: 'download' | 'install', ...options: string[]],
  use: (folder: string) => Promise<void>,
): Promise<void> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(path.join(parent, 'download-'));
  try {
    const venv = path.join(folder, 'venv');
    await run('python3', ['-m', 'venv', venv]);
    const [command, ...options] = args(folder);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
    const pinned = ['--require-hashes', '-r', requirements];
    const pip = ['-m', 'pip', command, ...quiet, ...pinned, ...options];
    await run(path.join(venv, 'bin', 'python'), pip);
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
