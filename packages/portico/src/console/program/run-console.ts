import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command for the application in `io.cwd`, and returns the exit code: 0 if the
 * command succeeds, otherwise 1. `argv` contains the arguments after `portico`. Rejects if the
 * application's code has a syntax error whose stack contains no file or line. Only Node can print
 * the file and line of this error, when the process exits.
 *
 * Loads the console's code only when called, because an application that serves requests does not
 * need it.
 *
 * @example
 * process.exitCode = await runConsole(['oauth:client:list'], {
 *   cwd: process.cwd(),
 *   stdout: (text) => process.stdout.write(text),
 *   stderr: (text) => process.stderr.write(text),
 * });
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
