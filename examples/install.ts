import { cp, mkdtemp, readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Runs npm in a folder. Rejects if npm fails. */
export type Npm = (folder: string, args: readonly string[]) => Promise<unknown>;

/**
 * Copies `examples/<name>` to a folder outside the repository, installs it with Portico, and builds
 * it. Portico is packed as `npm publish` would upload it, so the folder `dist` must exist. Returns
 * the new folder.
 */
export async function installExample(name: string, npm: Npm): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `portico-${name}-`));
  await cp(path.join(import.meta.dirname, name), folder, {
    recursive: true,
    filter: (file) => path.basename(file) !== 'node_modules',
  });
  await packInto(folder, npm);
  await npm(folder, ['ci', '--prefer-offline', '--no-audit', '--no-fund']);
  await npm(folder, ['run', 'build']);
  return folder;
}

/**
 * Packs the packages of the workspace. The files get the names that the example's package.json
 * uses, such as `portico.tgz` and `portico-sql.tgz`.
 */
export async function packInto(folder: string, npm: Npm): Promise<void> {
  const root = path.join(import.meta.dirname, '..');
  await npm(root, [
    'pack',
    '--workspaces',
    '--silent',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  ]);
  for (const file of await readdir(folder)) {
    const name = /^((?:create-)?portico(?:-[a-z]+)*)-\d.*\.tgz$/.exec(file)?.[1];
    if (name !== undefined) await rename(path.join(folder, file), path.join(folder, `${name}.tgz`));
  }
}
