// Loads the code that a server loads later (decision 22), for example the OpenAPI description, the
// administrator's pages and the import. Otherwise, it would be loaded during the first test of a
// file. Stryker would then count the mutants of its constants as mutants of that test, although
// they cannot act any more.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = path.join(import.meta.dirname, '../../packages');
for (const feature of ['portico', 'admin', 'import']) {
  const shared = path.join(packages, feature, 'dist/shared');
  for (const name of existsSync(shared) ? readdirSync(shared) : [])
    if (name.endsWith('.js')) await import(pathToFileURL(path.join(shared, name)).href);
}
