/**
 * `node tools/scripts/lock-stack.ts <name> …` writes examples/<name>/package-lock.json again. It
 * needs a built `dist`. The lockfile names Portico's packages as files in the same folder, without
 * a hash, because each build is different. It also locks their dependencies. Versions that are
 * already in the lockfile stay unchanged.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { packInto } from '../../examples/install.ts';
import { PACKAGES, ROOT } from './packages.ts';

const run = promisify(execFile);

for (const name of process.argv.slice(2)) await lock(path.join(ROOT, 'examples', name));

async function lock(folder: string): Promise<void> {
  const aside = mkdtempSync(path.join(tmpdir(), 'portico-lock-'));
  try {
    for (const file of ['package.json', 'package-lock.json'])
      if (existsSync(path.join(folder, file)))
        cpSync(path.join(folder, file), path.join(aside, file));
    forgetOurs(aside);
    await packInto(aside, npm);
    await npm(aside, [
      'install',
      '--silent',
      '--package-lock-only',
      '--omit-lockfile-registry-resolved',
    ]);
    const written = readFileSync(path.join(aside, 'package-lock.json'), 'utf8');
    const lockfile = JSON.parse(written) as { packages: Record<string, { integrity?: string }> };
    for (const { name } of PACKAGES) delete lockfile.packages[`node_modules/${name}`]?.integrity;
    writeFileSync(path.join(folder, 'package-lock.json'), `${JSON.stringify(lockfile, null, 2)}\n`);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/**
 * Removes Portico's packages from the lockfile, because npm would otherwise not read their current
 * dependencies.
 */
function forgetOurs(folder: string): void {
  const file = path.join(folder, 'package-lock.json');
  if (!existsSync(file)) return;
  const lockfile = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, unknown> };
  for (const { name } of PACKAGES) delete lockfile.packages[`node_modules/${name}`];
  writeFileSync(file, JSON.stringify(lockfile));
}

async function npm(cwd: string, args: readonly string[]): Promise<void> {
  // Run npm with this version of Node. npm chooses versions that work with the Node that runs it.
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH']}`;
  await run('npm', args, { cwd, env: { ...process.env, PATH } });
}
