import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command for the application in the current folder. Returns the exit code. Loads
 * the console here, because an application that serves requests does not need it.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
