import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { isConfigurationError, type ConfigurationError } from '@portico/sql';
import { Command, CommanderError } from 'commander';
import { startApplication } from '../../application/application.ts';
import { requirePlugins } from '../../application/configuration.ts';
import { addDbBackup } from './commands/db-backup.ts';
import { addDbMigrate } from './commands/db-migrate.ts';
import type { Application } from '../../application/started-application.ts';
import type { ApplicationDefinition } from '../../application/definition.ts';
import type { ConsoleContext } from '../../application/console-context.ts';
import type { Plugin } from '../../application/plugin.ts';
import { jsonText } from '../../http/json.ts';
import { takeEnvironmentBack } from '../../application/environment.ts';
import { ConsoleError } from '../../application/errors.ts';
import { describeError } from '../../host/log.ts';
import { describeFileProblem, findConfigurationError } from '../database-problems.ts';
import { findDefinition, NO_APPLICATION } from './find-application.ts';
import { withProgress } from './progress.ts';
import { isSchemaPending, SCHEMA_PENDING } from './pending-schema.ts';

/** Where a console command runs and writes. */
export interface ConsoleIo {
  /** The current folder of the command. */
  readonly cwd: string;
  /** Receives the data that the command prints. */
  readonly stdout: (text: string) => void;
  /** Receives all text for the operator. */
  readonly stderr: (text: string) => void;
  /**
   * Returns the width of the terminal of `stderr`, in columns. Returns null, or is missing, if
   * `stderr` is not a terminal.
   */
  readonly columns?: () => number | null;
}

/**
 * Runs one command for the application in the current folder, and returns the exit code. Rejects
 * for a syntax error in the application whose stack contains no file or line. Only Node can print
 * these, when the process exits.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  if (argv[0] === '--version') {
    // `--version` also works without an application, or with one that cannot be loaded.
    io.stdout(`${version()}\n`);
    return 0;
  }
  const program = createProgram(io);
  const opened: { application: Promise<Application> | null } = { application: null };
  let hasCommands = false;
  try {
    const found = await findDefinition(argv, io);
    const context = createContext(found, opened, io);
    if (found !== null) {
      await addCommands(program, found, context);
      hasCommands = true;
    } else
      program
        .addHelpText(
          'after',
          '\nNo application was found, so its commands are not listed. Run this in the ' +
            "application's folder (with app.ts " +
            'or portico.config.ts), or pass --app <file>.',
        )
        .action(() => context.fail(NO_APPLICATION))
        .allowUnknownOption()
        .allowExcessArguments();
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (!hasCommands && asksForReport(argv)) io.stdout(reportWithoutApplication(error));
    if (isPlaceless(error)) throw error;
    return await reportError(error, opened.application, io, argv.includes('db:migrate'));
  } finally {
    const application = await opened.application?.catch(() => null);
    try {
      await application?.close();
    } finally {
      // The servers of the command have stopped. The next application in this process must not use
      // this application's environment variables.
      takeEnvironmentBack();
    }
  }
}

/** A doctor command with `--json` prints a report even if the application cannot be loaded. */
function asksForReport(argv: readonly string[]): boolean {
  return argv.includes('--json') && argv.some((argument) => argument.endsWith(':doctor'));
}

function reportWithoutApplication(error: unknown): string {
  const check = {
    part: 'application',
    outcome: 'failing',
    detail: error instanceof Error ? error.message : inspect(error),
    remedy:
      'fix the problem (see standard error), so that the application can start. Then run ' +
      'this command again for the other checks',
  };
  return `${JSON.stringify({ healthy: false, checks: [check] }, null, 2)}\n`;
}

function createProgram(io: ConsoleIo): Command {
  return new Command('portico')
    .description('Commands for an application that uses Portico.')
    .usage('[--app <file>] <command>')
    .option(
      '--app <file>',
      'the file that defines the application (default: portico.config.ts or app.ts in the ' +
        'current folder, or the file that the nearest package.json names)',
    )
    .option(
      '--config <file>',
      'the same as --app, for a file such as portico.config.ts that only these commands use',
    )
    .version(version(), '--version', 'print the versions of portico and of Node')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .configureHelp({ sortSubcommands: true })
    .addHelpText(
      'after',
      "\nExample:\n  $ npx portico oauth:client:create 'My app' " +
        '--redirect=https://my.example/cb --scope=openid',
    )
    .showHelpAfterError('(for all commands and options, add --help)')
    .exitOverride();
}

/** The relative path to package.json is the same from the sources and from `dist`. */
function version(): string {
  const manifest = path.join(import.meta.dirname, '..', '..', '..', 'package.json');
  const { version: own } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly version: string;
  };
  return `portico ${own}, node ${process.versions.node}`;
}

async function addCommands(
  program: Command,
  definition: ApplicationDefinition,
  context: ConsoleContext,
): Promise<void> {
  requirePlugins(definition);
  const { plugins = [] } = definition;
  const contributed = plugins.map((plugin) => plugin.commands);
  const own = definition.commands === undefined ? [] : [definition.commands];
  const all: readonly Plugin['commands'][] = [
    ...(definition.framework?.commands(plugins) ?? []),
    addDbMigrate,
    addDbBackup,
    ...contributed,
    ...own,
  ];
  for (const add of all) await add(program, context);
}

/**
 * Escapes characters that move the terminal's cursor, are invisible, or change the text direction.
 * The data may come from anyone. The escaped JSON has the same value.
 */
function printable(json: string): string {
  return json.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function createContext(
  found: ApplicationDefinition | null,
  opened: { application: Promise<Application> | null },
  io: ConsoleIo,
): ConsoleContext {
  const context: ConsoleContext = {
    application({ serves = false } = {}) {
      if (found === null) return context.fail(NO_APPLICATION);
      const standardOutput = serves ? 'stdout' : 'stderr';
      return (opened.application ??= startApplication(found, { standardOutput }));
    },
    print: (line) => io.stdout(`${line}\n`),
    printJson: (value) => io.stdout(`${printable(jsonText(value, undefined, 2))}\n`),
    note: (line) => io.stderr(`${line}\n`),
    progress: (what, work) => withProgress(what, io.stderr, io.columns?.() ?? null, work),
    fail(line) {
      throw new ConsoleError(line);
    },
  };
  return context;
}

/**
 * Returns true for a syntax error whose stack contains no file or line. Only Node prints these,
 * when it exits.
 */
function isPlaceless(error: unknown): boolean {
  const stack = error instanceof SyntaxError ? (error.stack ?? '') : '';
  return stack.startsWith('SyntaxError') && !stack.includes('file:');
}

async function reportError(
  error: unknown,
  opened: Promise<Application> | null,
  io: ConsoleIo,
  migrates: boolean,
): Promise<number> {
  // Commander has already printed its error message or the requested help.
  if (error instanceof CommanderError) return error.exitCode;
  if (isConfigurationError(error)) {
    io.stderr(`${describeProblems(error)}\n`);
    return 1;
  }
  if (error instanceof ConsoleError) {
    io.stderr(`${error.message}\n`);
    return 1;
  }
  const application = (await opened?.catch(() => null)) ?? null;
  application?.log.error('A console command failed: {exception}', { exception: error });
  io.stderr(`${await describeFailure(error, application, migrates)}\n`);
  return 1;
}

/**
 * Returns the error message for the operator. `migrates`: the command itself applies the schema.
 */
async function describeFailure(
  error: unknown,
  application: Application | null,
  migrates: boolean,
): Promise<string> {
  if (application !== null && error instanceof Error) {
    const refused = findConfigurationError(application, error);
    if (refused !== null) return describeProblems(refused);
    // An error from another server can look the same, so ask the database again.
    let unreachable: string | null = null;
    const isPending = await isSchemaPending(application, (line) => {
      unreachable = line;
    }).catch(() => false);
    const line = unreachable ?? describeFileProblem(application, error);
    if (line !== null || application.database.isUnavailable(error))
      return `${line ?? error.message} (details are in the log)`;
    if (!migrates && isPending) return SCHEMA_PENDING;
  }
  return error instanceof Error ? describeError(error) : `Thrown: ${inspect(error)}`;
}

function describeProblems({ message }: ConfigurationError): string {
  return `The configuration cannot be used:\n${message.replaceAll(/^/gm, '  ')}`;
}
