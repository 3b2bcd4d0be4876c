import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command of the application found from the current folder; returns the exit code.
 * Loads the console only now, because a serving application does not need it.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
