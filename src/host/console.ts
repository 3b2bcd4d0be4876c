import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command, CommanderError } from 'commander';
import { startApplication } from './application.ts';
import { addServe } from './commands/serve.ts';
import { addDbMigrate } from './commands/db-migrate.ts';
import type { Application, ApplicationDefinition, ConsoleContext } from './contracts.ts';
import { ConfigurationError, ConsoleError } from './errors.ts';
import { isSchemaPending, SCHEMA_PENDING } from './pending-schema.ts';

/** Where the console was called, and where it writes. */
export interface ConsoleIo {
  /** The folder the console was called in. */
  readonly cwd: string;
  /** Takes what the command prints as data. */
  readonly stdout: (text: string) => void;
  /** Takes everything that is meant for a reader. */
  readonly stderr: (text: string) => void;
}

/** Runs one console command of the application found from the current folder; answers the exit code. */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const program = createProgram(io);
  const opened: { application: Promise<Application> | null } = { application: null };
  try {
    const definition = await findDefinition(argv, io.cwd);
    const context = createContext(definition, opened, io);
    if (definition !== null) addCommands(program, definition, context);
    else
      program
        .action(() => context.fail(NO_APPLICATION))
        .allowUnknownOption()
        .allowExcessArguments();
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return await reportError(error, opened.application, io);
  } finally {
    const application = await opened.application?.catch(() => null);
    await application?.close();
  }
}

const NO_APPLICATION =
  'No application is here. Run this in its folder (beside app.ts), name it in package.json as ' +
  '"portico": { "app": "path/to/app.ts" }, or pass --app <file>.';

function createProgram(io: ConsoleIo): Command {
  return new Command('portico')
    .description('The console of an application that Portico is part of.')
    .usage('[--app <file>] <command>')
    .option('--app <file>', 'the file that describes the application (default: found from this folder)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .configureHelp({ sortSubcommands: true })
    .addHelpText(
      'after',
      "\nExample:\n  $ npx portico oauth:client:create 'My app' --redirect=https://my.example/cb --scope=openid",
    )
    .showHelpAfterError('(add --help for what there is)')
    .exitOverride();
}

function addCommands(program: Command, definition: ApplicationDefinition, context: ConsoleContext): void {
  const contributed = (definition.plugins ?? []).map((plugin) => plugin.commands);
  const own = definition.commands === undefined ? [] : [definition.commands];
  for (const add of [addServe, addDbMigrate, ...contributed, ...own]) add(program, context);
}

function createContext(
  definition: ApplicationDefinition | null,
  opened: { application: Promise<Application> | null },
  io: ConsoleIo,
): ConsoleContext {
  const context: ConsoleContext = {
    application() {
      if (definition === null) return context.fail(NO_APPLICATION);
      return (opened.application ??= startApplication(definition));
    },
    print: (line) => io.stdout(`${line}\n`),
    printJson: (value) => io.stdout(`${JSON.stringify(value, null, 2)}\n`),
    note: (line) => io.stderr(`${line}\n`),
    fail(line) {
      throw new ConsoleError(line);
    },
  };
  return context;
}

async function reportError(
  error: unknown,
  opened: Promise<Application> | null,
  io: ConsoleIo,
): Promise<number> {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof ConfigurationError) {
    io.stderr(`The configuration cannot be used:\n${error.message.replaceAll(/^/gm, '  ')}\n`);
    return 1;
  }
  if (error instanceof ConsoleError) {
    io.stderr(`${error.message}\n`);
    return 1;
  }
  const application = await opened?.catch(() => null);
  application?.log.error('A console command failed: {exception}', { exception: error });
  if (application !== null && application !== undefined && (await isSchemaPending(application))) {
    io.stderr(`${SCHEMA_PENDING}\n`);
    return 1;
  }
  const details = application === null || application === undefined ? '' : ' (details are in the log)';
  io.stderr(`${error instanceof Error ? error.message : String(error)}${details}\n`);
  return 1;
}

// --- finding the application ----------------------------------------------------------------------------------

const APPLICATION_FILES = ['app.ts', 'app.js', 'app.mjs'] as const;

/** The application's definition: `--app`, a file of that name in the folder, or what the nearest package.json names. */
async function findDefinition(argv: readonly string[], cwd: string): Promise<ApplicationDefinition | null> {
  const named = namedApplication(argv);
  const file = named === null ? applicationFile(cwd) : path.resolve(cwd, named);
  if (file === null) return null;
  if (!existsSync(file)) throw new ConsoleError(`There is no file ${file}`);
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  const definition = module.default;
  if (typeof definition !== 'object' || definition === null || !('directory' in definition)) {
    throw new ConsoleError(`${file} does not export defineApplication({ … }) as its default`);
  }
  return definition as ApplicationDefinition;
}

/** `--app` is needed before commander runs: the application brings the commands. */
function namedApplication(argv: readonly string[]): string | null {
  for (const [index, argument] of argv.entries()) {
    if (argument === '--') return null;
    if (argument === '--app') return argv[index + 1] ?? null;
    if (argument.startsWith('--app=')) return argument.slice('--app='.length);
  }
  return null;
}

function applicationFile(cwd: string): string | null {
  const beside = APPLICATION_FILES.map((name) => path.join(cwd, name)).find((file) => existsSync(file));
  if (beside !== undefined) return beside;
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, 'package.json');
    if (existsSync(manifest)) {
      const { portico } = JSON.parse(readFileSync(manifest, 'utf8')) as { portico?: { app?: string } };
      return portico?.app === undefined ? null : path.join(folder, portico.app);
    }
    if (folder === path.dirname(folder)) return null;
  }
}
