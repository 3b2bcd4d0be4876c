import type { ConsoleIo } from './console.ts';

/**
 * Runs one console command of the application found from the current folder; answers the exit code. The console is loaded
 * here, since an application that serves need not have it.
 */
export async function runConsole(argv: readonly string[], io: ConsoleIo): Promise<number> {
  const console = await import('./console.ts');
  return console.runConsole(argv, io);
}
