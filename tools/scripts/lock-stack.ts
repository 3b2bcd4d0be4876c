/**
 * Writes examples/<name>/package-lock.json anew: `node tools/scripts/lock-stack.ts <name> …`, on a built `dist`. The lockfile
 * names Portico as a file beside it, without a hash, since every build is another one; what Portico depends on is locked too.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

for (const name of process.argv.slice(2)) lock(path.join(root, 'examples', name));

function lock(folder: string): void {
  const aside = mkdtempSync(path.join(tmpdir(), 'portico-lock-'));
  try {
    cpSync(path.join(folder, 'package.json'), path.join(aside, 'package.json'));
    run(root, ['pack', '--silent', '--ignore-scripts', '--pack-destination', aside]);
    const tarball = readdirSync(aside).find((name) => name.endsWith('.tgz')) ?? '';
    renameSync(path.join(aside, tarball), path.join(aside, 'portico.tgz'));
    run(aside, ['install', '--silent', '--package-lock-only', '--omit-lockfile-registry-resolved']);
    const written = readFileSync(path.join(aside, 'package-lock.json'), 'utf8');
    const lockfile = JSON.parse(written) as { packages: Record<string, { integrity?: string }> };
    delete lockfile.packages['node_modules/portico']?.integrity;
    writeFileSync(path.join(folder, 'package-lock.json'), `${JSON.stringify(lockfile, null, 2)}\n`);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function run(cwd: string, args: readonly string[]): void {
  // This Node, since npm takes the versions that the running one can use.
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH']}`;
  execFileSync('npm', args, { cwd, env: { ...process.env, PATH }, stdio: ['ignore', 'ignore', 'inherit'] });
}
