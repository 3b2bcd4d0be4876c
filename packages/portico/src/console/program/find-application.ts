import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isConfigurationError } from '@portico/sql';
import type { ApplicationDefinition } from '../../application/definition.ts';
import { lendEnvironment } from '../../application/environment.ts';
import { ConsoleError } from '../../application/errors.ts';
import { findTypeScript } from './find-sources.ts';
import { withoutServers } from './without-servers.ts';

export const NO_APPLICATION =
  "No application was found. Run this command in the application's folder, which contains " +
  'app.ts or portico.config.ts, or pass --app <file> or --config <file>. You can also name the ' +
  'file in package.json: "portico": { "app": "path/to/app.ts" }';

/**
 * These files can define the application. portico.config has priority over app in the same folder.
 */
const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs', 'cjs'].map((ending) => `portico.config.${ending}`);
const APPLICATION_FILES = ['app.ts', 'app.mts', 'app.js', 'app.mjs', 'app.cjs'] as const;

interface Caller {
  readonly cwd: string;
  readonly stderr: (text: string) => void;
}

/**
 * Returns the definition of the application, or null. It comes from `--app` or `--config`, from a
 * file with a known name, or from the file that the nearest package.json names. First adds the
 * variables in the application's `.env` to the process.
 */
export async function findDefinition(
  argv: readonly string[],
  io: Caller,
): Promise<ApplicationDefinition | null> {
  const { cwd } = io;
  const named = namedApplication(argv);
  const found = named === null ? findApplication(cwd) : inItsFolder(path.resolve(cwd, named), cwd);
  if (found === null) return null;
  const { file, directory } = found;
  if (!existsSync(file)) throw new ConsoleError(`The file ${file} does not exist`);
  lendEnvironment(directory);
  const definition = getDefaultExport(await load(file, argv, io));
  if (typeof definition !== 'object' || definition === null || !('config' in definition)) {
    throw new ConsoleError(`${file} must export defineApplication({ … }) as its default export`);
  }
  if ('publicUrl' in definition) {
    throw new ConsoleError(
      `${file} exports the options of createAuthorizationServer. The console needs this form ` +
        `instead:\n` +
        '  export default { config: { public_url, oauth_server }, plugins: [oauthServer({ ' +
        'host })], database }',
    );
  }
  return { directory, ...withoutUndefined(definition as ApplicationDefinition) };
}

/** Bundlers replace `import.meta.dirname` with undefined. Such a `directory` is removed. */
function withoutUndefined({ directory, ...others }: ApplicationDefinition): ApplicationDefinition {
  return directory === undefined ? others : { directory, ...others };
}

/** In compiled CommonJS, the default export is nested in another one. */
function getDefaultExport({ default: exported }: { readonly default?: unknown }): unknown {
  if (typeof exported !== 'object' || exported === null || !('default' in exported))
    return exported;
  return exported.default;
}

/**
 * Loads the file that defines the application. If this fails, prints the file's name first, except
 * for a configuration error.
 */
async function load(
  file: string,
  argv: readonly string[],
  io: Caller,
): Promise<{ readonly default?: unknown }> {
  findTypeScript();
  const own = () => import(pathToFileURL(file).href) as Promise<{ readonly default?: unknown }>;
  try {
    return await (readCommand(argv) === 'serve' ? own() : withoutServers(file, own, io.stderr));
  } catch (error) {
    if (!isConfigurationError(error)) io.stderr(`The application cannot be loaded: ${file}\n\n`);
    if (isUncompiled(error)) {
      io.stderr(
        'Node only removes the types from TypeScript, but enums, namespaces, parameter ' +
          'properties and decorators need a compiler. Pass the compiled file, for example: npx ' +
          'portico --app dist/app.js\n\n',
      );
    }
    if (isTakenForCommonJs(error)) {
      io.stderr(
        'A package.json has "type": "commonjs", so Node reads its .ts files as CommonJS, ' +
          'which uses require instead of import. If the application is new, run npm pkg set ' +
          'type=module. Otherwise, pass the compiled file, for example npx portico --app ' +
          'dist/portico.js, or load TypeScript as the application does: ' +
          "NODE_OPTIONS='--import tsx'\n\n",
      );
    }
    throw error;
  }
}

function isUncompiled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
}

function isTakenForCommonJs(error: unknown): boolean {
  return (
    error instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(error.message)
  );
}

/**
 * Reads `--app` or `--config`. Commander cannot read them, because the application that adds the
 * commands is not loaded yet.
 */
function namedApplication(argv: readonly string[]): string | null {
  for (const [index, argument] of argv.entries()) {
    if (argument === '--') return null;
    if (argument === '--app' || argument === '--config') return argv[index + 1] ?? null;
    const [, file] = /^--(?:app|config)=(.*)$/s.exec(argument) ?? [];
    if (file !== undefined) return file;
  }
  return null;
}

function readCommand(argv: readonly string[]): string | undefined {
  return argv.find(
    (argument, index) =>
      !/^--(?:app|config)(?:=|$)/.test(argument) &&
      !/^--(?:app|config)$/.test(argv[index - 1] ?? ''),
  );
}

/**
 * The file that defines the application, and its folder. `directory` in the definition replaces the
 * folder.
 */
interface Found {
  readonly file: string;
  readonly directory: string;
}

function findApplication(cwd: string): Found | null {
  const named = manifestApplication(cwd);
  const beside = firstIn(cwd, [...CONFIG_FILES, ...(named === undefined ? APPLICATION_FILES : [])]);
  if (beside !== undefined) return { file: beside, directory: cwd };
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (hasManifest(folder)) {
      const app = manifestApplication(folder);
      const file =
        firstIn(folder, CONFIG_FILES) ?? (app === undefined ? null : path.join(folder, app));
      return file === null ? null : { file, directory: folder };
    }
    if (folder === path.dirname(folder)) return null;
  }
}

/**
 * Returns the file and the application's folder: the first folder upward from the file that has a
 * package.json. The current folder counts too, because servers start there. Otherwise, it is the
 * file's own folder.
 */
function inItsFolder(file: string, cwd: string): Found {
  const own = path.dirname(file);
  for (let folder = own; ; folder = path.dirname(folder)) {
    if (folder === cwd || hasManifest(folder)) return { file, directory: folder };
    if (folder === path.dirname(folder)) return { file, directory: own };
  }
}

function firstIn(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => path.join(folder, name)).find((file) => existsSync(file));
}

const hasManifest = (folder: string) => existsSync(path.join(folder, 'package.json'));

function manifestApplication(folder: string): string | undefined {
  if (!hasManifest(folder)) return undefined;
  const manifest = readFileSync(path.join(folder, 'package.json'), 'utf8');
  const { portico } = JSON.parse(manifest) as { readonly portico?: { readonly app?: string } };
  return portico?.app;
}
