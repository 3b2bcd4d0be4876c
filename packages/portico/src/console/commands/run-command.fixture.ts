import { Command } from 'commander';
import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';

/** What a command prints, and the message with which it ends. */
export interface Said {
  readonly printed: readonly unknown[];
  readonly noted: readonly string[];
  readonly failed: string | null;
}

class Ended extends Error {}

/**
 * Runs one command with a server that has only these members. It calls the command as the console
 * does, but needs no application and no store. If `server` is an error, the application cannot
 * start.
 */
export function runCommand(
  add: AddCommands,
  server: object,
  ...args: readonly string[]
): Promise<Said> {
  return runCommandIn({}, add, server, ...args);
}

/** Runs one command in an application that has only these members, besides the server. */
export async function runCommandIn(
  application: object,
  add: AddCommands,
  server: object,
  ...args: readonly string[]
): Promise<Said> {
  const [printed, noted]: [unknown[], string[]] = [[], []];
  const services = new Map([['oauth_server', { outbox: { stop: async () => {} }, ...server }]]);
  const context = {
    async application() {
      if (server instanceof Error) throw server;
      return { ...application, services };
    },
    print: (line: string) => void printed.push(line),
    printJson: (value: unknown) => void printed.push(value),
    note: (line: string) => void noted.push(line),
    progress: (what: string, work: (report: (state: string) => void) => Promise<unknown>) =>
      work((state) => void noted.push(`${what}: ${state}`)),
    fail(line: string): never {
      throw new Ended(line);
    },
  } as unknown as ConsoleContext;
  const program = new Command().exitOverride();
  add(program, context);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return { printed, noted, failed: null };
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return { printed, noted, failed: error.message };
  }
}
