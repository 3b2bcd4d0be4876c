// Builds `dist` from the mutated sources in Stryker's copy. It is needed here because Stryker adds
// node_modules to the copy only later.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { linkDependencies } from '../scripts/packages.ts';

const root = path.join(import.meta.dirname, '..', '..');
if ((process.env['MUTATION_ROOT'] ?? root) === root)
  throw new Error('This changes a source: it is for the copy that Stryker makes');
linkDependencies(root, process.env['MUTATION_ROOT']);

// Expose the failed attempts. A test that is called a hundred times fails to sign in a hundred
// times, and the server would slow it down. every-mutant.ts clears the attempts between the calls.
const attempts = path.join(root, 'packages', 'portico', 'src', 'http', 'failed-attempts.ts');
const remembered = 'new RecentMap<string, Failures>(MOST_KEYS)';
const before = readFileSync(attempts, 'utf8');
if (!before.includes(remembered))
  throw new Error(`${attempts} remembers in another way than tools/mutation/build.ts knows`);
const shown = `((made) => (((globalThis as any).__failedAttempts__ ??= []).push(made), made))(${remembered})`;
writeFileSync(attempts, before.replace(remembered, shown));

await import('../scripts/build.ts');
