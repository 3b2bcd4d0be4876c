// In Stryker's copy: makes `dist` of the mutated sources. Stryker would give the copy its node_modules only afterwards.
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const link = path.join(import.meta.dirname, '..', 'node_modules');
if (!existsSync(link)) symlinkSync(path.join(process.env['MUTATION_ROOT'] ?? '', 'node_modules'), link);
await import('../scripts/build.ts');
