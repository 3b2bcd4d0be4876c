/**
 * `node tools/scripts/compare-packages.ts <one.tgz> <other.tgz>` prints where two packages differ.
 * It exits with 1 if they do.
 */
import { readFileSync } from 'node:fs';
import { differences } from './supply/tarball.ts';

const [one = '', other = ''] = process.argv.slice(2);
const found = differences(readFileSync(one), readFileSync(other));
process.stdout.write(found.length === 0 ? 'the same bytes\n' : `${found.join('\n')}\n`);
if (found.length > 0) process.exitCode = 1;
