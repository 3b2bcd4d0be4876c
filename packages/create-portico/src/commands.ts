// Installs packages, and runs the commands of Portico's console.
import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { settingsOf, type PackageManager } from './detect.ts';
import { Failure } from './failure.ts';
import type { Command, Plan } from './plan.ts';
import type { Streams } from './questions.ts';

const ADD: Readonly<Record<PackageManager, { readonly add: string; readonly dev: string }>> = {
  npm: { add: 'install', dev: '--save-dev' },
  pnpm: { add: 'add', dev: '--save-dev' },
  yarn: { add: 'add', dev: '--dev' },
  bun: { add: 'add', dev: '--dev' },
};

/**
 * Returns the packages to install. `given` is a version of Portico, a tarball, or a folder with the
 * tarballs from `npm run pack`. Adds the version to the names of Portico's packages, or replaces
 * these names with tarballs. Other names stay unchanged.
 */
export function porticoPackages(
  packages: readonly string[],
  given: string | undefined,
  { cwd, version }: { readonly cwd: string; readonly version: string },
): readonly string[] {
  const isOurs = (name: string) => name === 'portico' || name.startsWith('@portico/');
  const others = packages.filter((name) => !isOurs(name));
  const ours = packages.filter(isOurs);
  const place = path.resolve(cwd, given ?? '');
  if (given === undefined || (/^[\w.^~-]+$/.test(given) && !existsSync(place)))
    return [...ours.map((name) => `${name}@${given ?? version}`), ...others];
  if (!existsSync(place)) throw new Failure(`--portico ${given}: no such file or folder.`);
  const folder = statSync(place).isDirectory() ? place : path.dirname(place);
  return [...['@portico/sql', ...ours].map((name) => tarballOf(name, folder)), ...others];
}

function tarballOf(name: string, folder: string): string {
  const prefix = name.replace('@', '').replace('/', '-');
  const file = readdirSync(folder).find((each) =>
    new RegExp(`^${prefix}-\\d[\\w.-]*\\.tgz$`).test(each),
  );
  if (file === undefined)
    throw new Failure(
      `${folder} does not contain the package file of ${name}, such as ${prefix}-0.1.0.tgz. To create this file, run \`npm run pack\` in the repository of Portico.`,
    );
  return path.join(folder, file);
}

/** Returns the commands that install the missing packages. */
export function installCommands(
  plan: Plan,
  packages: readonly string[],
): readonly (readonly string[])[] {
  const { add, dev } = ADD[plan.packageManager];
  const missing = (wanted: string) => !isInstalled(plan.folder, wanted);
  const development = plan.developmentPackages.filter(missing);
  return [
    ...([...plan.packages].some(missing) ? [[plan.packageManager, add, ...packages]] : []),
    ...(development.length > 0 ? [[plan.packageManager, add, dev, ...development]] : []),
  ];
}

/**
 * Whether a package is installed. `wanted` is the package's name, and may end with a major version,
 * such as `@types/node@24`.
 */
function isInstalled(folder: string, wanted: string): boolean {
  const [, name = '', major] = /^(.[^@]*)(?:@(\d+))?$/.exec(wanted) ?? [];
  const file = path.join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return false;
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return major === undefined || version.startsWith(`${major}.`);
}

/** Returns a command line that you can type in a shell. */
export const typed = (command: readonly string[]): string =>
  command
    .map((word) =>
      /^[\w@%+=:,./~^-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
    )
    .join(' ');

/**
 * Matches arguments that contain no characters with a special meaning in a Windows shell. Spaces
 * are allowed, because the caller puts arguments with spaces in quotation marks.
 */
const PLAIN = /^[\p{L}\p{N}_@+=:,./\\~ -]+$/u;

/**
 * Throws a `Failure` if an argument contains a character with a special meaning in a shell. Does
 * nothing except on Windows, where `install` starts the package manager in a shell.
 */
export function checkForShell(command: readonly string[]): void {
  const wrong =
    process.platform === 'win32' ? command.find((word) => !PLAIN.test(word)) : undefined;
  if (wrong !== undefined)
    throw new Failure(
      `${wrong} contains a character that has a special meaning in the shell. Use a path with letters, digits, spaces, - and _. Nothing was written.`,
    );
}

/** Installs packages. Uses a shell on Windows, because package managers are scripts there. */
export function install(folder: string, command: readonly string[], streams: Streams): void {
  checkForShell(command);
  const line = command.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ');
  const isScript = process.platform === 'win32';
  run(folder, isScript ? [line] : command, streams, { shown: typed(command), shell: isScript });
}

/**
 * Runs a command in the application's folder and prints its output. Throws a `Failure` if the
 * command fails.
 */
function run(
  folder: string,
  [program = '', ...args]: readonly string[],
  streams: Streams,
  { shown, ...options }: Pick<SpawnSyncOptions, 'env' | 'shell'> & { readonly shown: string },
): void {
  streams.stdout(`\n$ ${shown}\n`);
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    cwd: folder,
    encoding: 'utf8',
  });
  streams.stdout(stdout ?? '');
  streams.stderr(stderr ?? '');
  if (error !== undefined || status !== 0)
    throw new Failure(
      `${shown} failed${error === undefined ? '' : `: ${error.message}`}. The files are written. Fix the cause, and run npm create portico again. It then continues with this step.`,
      1,
    );
}

/**
 * Runs the commands of Portico's console. Skips commands that would register a client or an account
 * a second time.
 */
export function runConsole(plan: Plan, streams: Streams): void {
  for (const { args } of missingCommands(plan, streams))
    run(plan.folder, consoleCommand(plan, args), streams, {
      shown: typedCommand(plan, args),
      env: environmentOf(plan),
    });
}

function* missingCommands(plan: Plan, streams: Streams): Generator<Command> {
  let clients: readonly unknown[] | null = null;
  for (const command of plan.commands) {
    if (command.client === undefined) yield command;
    else {
      clients ??= listed(plan, 'oauth:client:list', 'client_name', streams);
      if (clients.includes(command.client)) continue;
      const { account } = command;
      if (
        account === undefined ||
        !listed(plan, 'account:list', 'email', streams).includes(account)
      )
        yield command;
    }
  }
}

/** Runs a console command that lists entries, and returns one property of each entry. */
function listed(plan: Plan, name: string, property: string, streams: Streams): readonly unknown[] {
  const [program = '', ...args] = consoleCommand(plan, [name, '--json']);
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: plan.folder,
    encoding: 'utf8',
    env: environmentOf(plan),
  });
  if (status !== 0) {
    streams.stderr(stderr);
    throw new Failure(`portico ${name} failed. No client was registered.`, 1);
  }
  const all = JSON.parse(stdout) as readonly Readonly<Record<string, unknown>>[];
  return all.map((each) => each[property]);
}

/**
 * The environment variables for the console. Portico itself does not read `.env` if `.env.local`
 * exists, so pass the settings of both files.
 */
const environmentOf = ({ folder }: Plan) => ({ ...settingsOf(folder), ...process.env });

function consoleCommand({ folder, app }: Plan, args: readonly string[]): readonly string[] {
  const program = path.join(folder, 'node_modules', 'portico', 'bin', 'portico.js');
  return [process.execPath, program, '--app', app, ...args];
}

/** Returns the console's commands, in the form that you can type in a shell. */
export const consoleCommands = (plan: Plan): readonly string[] =>
  plan.commands.map(({ args }) => typedCommand(plan, args));

const typedCommand = ({ app }: Plan, args: readonly string[]) =>
  typed(['npx', 'portico', '--app', app, ...args]);
