import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isConfigurationError } from '../../contracts/errors.ts';
import type { ApplicationDefinition } from '../contracts.ts';
import { ConsoleError } from '../errors.ts';
import { findTypeScript } from './find-sources.ts';
import { withoutServers } from './without-servers.ts';

export const NO_APPLICATION =
  'No application is here. Run this in its folder (beside app.ts or portico.config.ts), name it in package.json as ' +
  '"portico": { "app": "path/to/app.ts" }, or pass --app <file> or --config <file>.';

/** A file for the console alone goes before one that the application may have for itself. */
const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs', 'cjs'].map((ending) => `portico.config.${ending}`);
const APPLICATION_FILES = ['app.ts', 'app.mts', 'app.js', 'app.mjs', 'app.cjs'] as const;

/** Where the console was called, and where it writes for a reader. */
interface Caller {
  readonly cwd: string;
  readonly stderr: (text: string) => void;
}

/** The application's definition: `--app` or `--config`, a file of a known name, or what the nearest package.json names. */
export async function findDefinition(
  argv: readonly string[],
  io: Caller,
): Promise<ApplicationDefinition | null> {
  const { cwd } = io;
  const named = namedApplication(argv);
  const file = named === null ? applicationFile(cwd) : path.resolve(cwd, named);
  if (file === null) return null;
  if (!existsSync(file)) throw new ConsoleError(`There is no file ${file}`);
  const definition = defaultOf(await load(file, argv, io));
  if (typeof definition !== 'object' || definition === null || !('config' in definition)) {
    throw new ConsoleError(`${file} does not export defineApplication({ … }) as its default`);
  }
  if ('publicUrl' in definition) {
    throw new ConsoleError(
      `${file} exports what createAuthorizationServer takes. The console takes the same as\n` +
        '  export default { config: { public_url, oauth_server }, plugins: [oauthServer({ host })], database }',
    );
  }
  return { directory: path.dirname(file), ...withoutUndefined(definition as ApplicationDefinition) };
}

/** A folder of undefined is none: bundlers make that of `import.meta.dirname`. */
function withoutUndefined({ directory, ...others }: ApplicationDefinition): ApplicationDefinition {
  return directory === undefined ? others : { directory, ...others };
}

/** What a compiler made CommonJS of has its default in the default. */
function defaultOf({ default: exported }: { readonly default?: unknown }): unknown {
  if (typeof exported !== 'object' || exported === null || !('default' in exported)) return exported;
  return exported.default;
}

/** Names the file before the error is printed. */
async function load(
  file: string,
  argv: readonly string[],
  io: Caller,
): Promise<{ readonly default?: unknown }> {
  findTypeScript();
  const own = () => import(pathToFileURL(file).href) as Promise<{ readonly default?: unknown }>;
  try {
    return await (commandOf(argv) === 'serve' ? own() : withoutServers(file, own, io.stderr));
  } catch (error) {
    if (!isConfigurationError(error)) io.stderr(`The application cannot be loaded: ${file}\n\n`);
    if (isUncompiled(error)) {
      io.stderr(
        'Node runs TypeScript by leaving the types out. Enums, namespaces, parameter properties and decorators need a ' +
          'compiler: name the compiled file, as in npx portico --app dist/app.js\n\n',
      );
    }
    if (isTakenForCommonJs(error)) {
      io.stderr(
        'A package.json says "type": "commonjs", so Node takes its .ts files for CommonJS, with require instead of import. ' +
          "Name the compiled file, as in npx portico --app dist/portico.js, or load TypeScript as the application does: NODE_OPTIONS='--import tsx'\n\n",
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
  return error instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(error.message);
}

/** Read before commander runs: the application brings the commands. */
function namedApplication(argv: readonly string[]): string | null {
  for (const [index, argument] of argv.entries()) {
    if (argument === '--') return null;
    if (argument === '--app' || argument === '--config') return argv[index + 1] ?? null;
    const [, file] = /^--(?:app|config)=(.*)$/s.exec(argument) ?? [];
    if (file !== undefined) return file;
  }
  return null;
}

function commandOf(argv: readonly string[]): string | undefined {
  return argv.find(
    (argument, index) =>
      !/^--(?:app|config)(?:=|$)/.test(argument) && !/^--(?:app|config)$/.test(argv[index - 1] ?? ''),
  );
}

function applicationFile(cwd: string): string | null {
  const named = manifestApplication(cwd);
  const beside = [...CONFIG_FILES, ...(named === undefined ? APPLICATION_FILES : [])]
    .map((name) => path.join(cwd, name))
    .find((file) => existsSync(file));
  if (beside !== undefined) return beside;
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) {
      const config = CONFIG_FILES.map((name) => path.join(folder, name)).find((file) => existsSync(file));
      const app = manifestApplication(folder);
      return config ?? (app === undefined ? null : path.join(folder, app));
    }
    if (folder === path.dirname(folder)) return null;
  }
}

/** What package.json in this folder names. */
function manifestApplication(folder: string): string | undefined {
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) return undefined;
  const { portico } = JSON.parse(readFileSync(manifest, 'utf8')) as { portico?: { app?: string } };
  return portico?.app;
}
