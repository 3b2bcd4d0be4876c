// Makes `dist`: what is published. TypeScript checks and declares; the code goes into few files, since most of an
// application's start is the reading of files: `docs/decisions/0012` has the figures.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
declare();
for (const view of globSync('**/views/**/*.eta', { cwd: path.join(root, 'src') })) {
  cpSync(path.join(root, 'src', view), path.join(dist, view));
}
await bundle();

function declare(): void {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** What package.json offers and the console, at `dist/<folder>/<name>.js`; what they share one folder deep as well. */
async function bundle(): Promise<void> {
  const input = Object.fromEntries(
    [...offered(), 'host/console'].map((name) => [name, path.join(root, 'src', `${name}.ts`)]),
  );
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    // Dependencies stay what the application installed. zod alone, most of it translations, comes along.
    external: (id) => /^[^./]/.test(id) && !id.startsWith('zod') && !path.isAbsolute(id),
    plugins: [
      {
        name: 'zod in English',
        load: (id) =>
          /[\\/]zod[\\/].*[\\/]locales[\\/]index\.js$/.test(id)
            ? "export { default as en } from './en.js';"
            : null,
      },
    ],
  });
  await bundled.write({ dir: dist, chunkFileNames: 'shared/[name].js', sourcemap: true });
  await bundled.close();
}

function offered(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1')],
  );
}
