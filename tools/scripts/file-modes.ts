/**
 * Sets the modes of the files in the package. Runs after the build and before npm packs the
 * package. All users can read the files, and can execute those that their owner can execute.
 * Without this step, the modes would depend on the umask of the checkout. npm copies the modes into
 * the package.
 */
import { chmodSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { PACKAGES } from './packages.ts';

for (const { directory } of PACKAGES) {
  const { files } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as {
    files: string[];
  };
  for (const name of [...files, 'package.json']) {
    const file = path.join(directory, name);
    if (existsSync(file)) for (const each of filesIn(file)) setMode(each);
  }
}

function filesIn(file: string): readonly string[] {
  if (!statSync(file).isDirectory()) return [file];
  return readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function setMode(file: string): void {
  const mode = statSync(file).mode & 0o777;
  const wanted = (mode & 0o100) === 0 ? 0o644 : 0o755;
  if (mode !== wanted) chmodSync(file, wanted);
}
