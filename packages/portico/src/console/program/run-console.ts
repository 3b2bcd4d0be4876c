import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command for the application in `io.cwd`, and returns the exit code: 0 if it
 * succeeds, otherwise 1. `argv` contains the arguments after `portico`.
 *
 * Rejects for a syntax error in the application whose stack contains no file or line. Only Node can
 * print these, when the process exits.
 *
 * An application that serves requests does not need the console's code, so it is loaded only when
 * called.
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
