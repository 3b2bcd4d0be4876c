import { execFile, spawnSync } from 'node:child_process';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { HERE, ROOT, type Installed } from './console.ts';

const run = promisify(execFile);

/**
 * Node and the package as another user may read them: where they are, or, where the clone lies in a folder that is closed to others, copies of
 * what runs. `through` runs a command as that user.
 */
export async function installedFor(
  through: readonly [string, ...string[]],
): Promise<Installed & { readonly remove: () => Promise<void> }> {
  const [command, ...args] = through;
  const isReadable =
    spawnSync(command, [...args, 'head', '-c', '1', path.join(ROOT, 'package.json')]).status === 0;
  if (isReadable) return { ...HERE, remove: async () => {} };

  const copy = await mkdtemp(path.join(tmpdir(), 'portico-installed-'));
  const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: ROOT }).catch(
    // It also ends with 1 for what is optional and not there.
    (error: { readonly stdout: string }) => error,
  );
  const dependencies = stdout
    .split('\n')
    .map((each) => path.relative(ROOT, each.trim()))
    .filter((each) => each.startsWith('node_modules'));
  const parts = ['bin', 'dist', 'package.json', ...dependencies];
  for (const part of parts) await cp(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  const node = path.join(copy, 'node');
  await cp(process.execPath, node);
  await run('chmod', ['-R', 'a+rX', copy]);
  await chmod(node, 0o755);
  return { node, folder: copy, remove: () => rm(copy, { recursive: true }) };
}
