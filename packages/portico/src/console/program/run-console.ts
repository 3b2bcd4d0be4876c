import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command of the application found from the current folder; returns the exit code. The console is loaded
 * only here: an application that serves does not need it.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
