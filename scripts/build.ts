// Makes `dist`: what is published. TypeScript compiles; the default views travel beside the code that renders them.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
for (const view of globSync('src/**/views/**/*.eta', { cwd: root })) {
  cpSync(path.join(root, view), path.join(root, view.replace(/^src/, 'dist')));
}
