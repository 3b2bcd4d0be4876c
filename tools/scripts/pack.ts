/** Packs every package into `.build/packages`, as `npm publish` would upload it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..', '..');
const output = path.join(root, '.build', 'packages');

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const options = ['--workspaces', '--ignore-scripts', '--json', '--pack-destination', output];
const stdout = execFileSync('npm', ['pack', ...options], { cwd: root, encoding: 'utf8' });
const packed = JSON.parse(stdout) as readonly { readonly filename: string }[];
process.stdout.write(packed.map(({ filename }) => `${path.join(output, filename)}\n`).join(''));
