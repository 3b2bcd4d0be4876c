import { existsSync, readFileSync, statSync } from 'node:fs';
import * as modules from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The extensions to try for an import without one, and for the index file of a folder. */
const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];
/** The TypeScript extension to try if a JavaScript file does not exist. */
const COMPILED: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts' };
const NOT_FOUND = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT'];
/** Matches an import of a package's file without an extension, for example `next/headers`. */
const IN_PACKAGE = /^(?:@[^/.]+\/)?[^@/.][^/]*\/[^.]*[^./]$/;

/** The URL of an empty module. */
const NOTHING = 'data:text/javascript,';

let found = false;

/**
 * Makes Node resolve the imports of the application's files as compilers and bundlers do. Affects
 * only imports that Node cannot resolve, and imports of `server-only`.
 *
 * - An import may omit the extension, or use the `.js` extension of the compiled file.
 * - An import may use the `paths` in tsconfig.json.
 * - An import of a package's file may also omit the extension.
 */
export function findTypeScript(): void {
  if (found) return;
  found = true;
  // Bun resolves such imports itself and does not have these hooks.
  const { registerHooks } = modules as Partial<typeof modules>;
  registerHooks?.({
    resolve(specifier, context, nextResolve) {
      // Frameworks import `server-only` to keep a file out of browser code. In Node, this package
      // throws or does not exist, so replace it with an empty module.
      if (specifier === 'server-only')
        return { url: NOTHING, format: 'module', shortCircuit: true };
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        const { parentURL } = context;
        const isMissing =
          error instanceof Error && NOT_FOUND.includes(String(Reflect.get(error, 'code')));
        if (!isMissing || parentURL?.startsWith('file:') !== true) throw error;
        const file = findSource(specifier, fileURLToPath(parentURL));
        if (file !== undefined) return nextResolve(pathToFileURL(file).href, context);
        // Packages without `exports` can be imported file by file. For example, Auth.js imports
        // `next/headers`. Try the extension `.js`.
        if (!IN_PACKAGE.test(specifier)) throw error;
        try {
          return nextResolve(`${specifier}.js`, context);
        } catch {
          throw error;
        }
      }
    },
  });
}

/**
 * Returns the application's file for this import, or undefined. Only Node resolves imports from
 * files in node_modules.
 */
function findSource(specifier: string, parent: string): string | undefined {
  if (parent.split(path.sep).includes('node_modules')) return undefined;
  const targets = /^\.\.?(?:\/|$)/.test(specifier)
    ? [path.resolve(path.dirname(parent), specifier)]
    : aliased(specifier, path.dirname(parent));
  return targets.flatMap(candidates).find(isFile);
}

function candidates(target: string): readonly string[] {
  const ending = path.extname(target);
  const source = COMPILED[ending];
  return [
    target,
    ...(source === undefined ? [] : [`${target.slice(0, -ending.length)}${source}`]),
    ...ENDINGS.map((each) => `${target}${each}`),
    ...ENDINGS.map((each) => path.join(target, `index${each}`)),
  ];
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

// --- paths of tsconfig.json ----------------------------------------------------------------------

type Paths = Readonly<Record<string, readonly string[]>>;

/** The files that this import can mean, according to `paths` in the nearest tsconfig.json. */
function aliased(specifier: string, folder: string): readonly string[] {
  const file = path.join(folder, 'tsconfig.json');
  if (!existsSync(file)) {
    return folder === path.dirname(folder) ? [] : aliased(specifier, path.dirname(folder));
  }
  const { paths = {}, from } = listPaths(file);
  return Object.entries(paths).flatMap(([pattern, targets]) => {
    const [before = '', after] = pattern.split('*');
    const isMatch =
      after === undefined
        ? specifier === pattern
        : specifier.startsWith(before) &&
          specifier.endsWith(after) &&
          specifier.length >= pattern.length - 1;
    if (!isMatch) return [];
    const middle = specifier.slice(before.length, specifier.length - (after ?? '').length);
    return targets.map((target) =>
      path.resolve(
        from,
        target.replace('*', () => middle),
      ),
    );
  });
}

function listPaths(file: string): { readonly paths?: Paths; readonly from: string } {
  const folder = path.dirname(file);
  const { compilerOptions = {}, extends: bases = [] } = readJson(file) as {
    readonly compilerOptions?: { readonly paths?: Paths; readonly baseUrl?: string };
    readonly extends?: string | readonly string[];
  };
  const { paths, baseUrl = '.' } = compilerOptions;
  if (paths !== undefined) return { paths, from: path.resolve(folder, baseUrl) };
  const inherited = [bases]
    .flat()
    .filter((base) => base.startsWith('.'))
    .flatMap((base) => [path.resolve(folder, base), path.resolve(folder, `${base}.json`)])
    .findLast(isFile);
  return inherited === undefined ? { from: folder } : listPaths(inherited);
}

/** The file may contain comments and trailing commas. */
function readJson(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  const string = '"(?:\\\\.|[^"\\\\])*"';
  const bare = text.replaceAll(new RegExp(`(${string})|//[^\\n]*|/\\*[^]*?\\*/`, 'g'), '$1');
  return JSON.parse(bare.replaceAll(new RegExp(`(${string})|,(?=\\s*[}\\]])`, 'g'), '$1'));
}
