// In Stryker's copy: makes `dist` of the mutated sources. Stryker gives the copy its node_modules only afterwards.
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const copy = path.join(import.meta.dirname, '..');
const link = path.join(copy, 'node_modules');
if (!existsSync(link)) symlinkSync(path.join(copy, '..', '..', 'node_modules'), link);
await import('../scripts/build.ts');
