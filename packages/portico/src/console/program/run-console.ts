import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command for the application in the current folder, and returns the exit code.
 * Loads the console's code only when called, because an application that serves requests does not
 * need it.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
