import type { Command } from 'commander';
import type { Application } from './started-application.ts';

/**
 * The context of a console command. Print data on standard output, and everything else on standard
 * error.
 */
export interface ConsoleContext {
  /**
   * Starts the application once. Throws a ConfigurationError that names every problem. If
   * `log:path` is `-`, the log goes to standard error, because the command prints its data on
   * standard output. If `serves` is true, the log goes to standard output instead.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data on standard output. */
  print(line: string): void;
  /** Prints a JSON document on standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the person at the console, on standard error. */
  note(line: string): void;
  /**
   * Runs long work and shows its progress on standard error. `what` describes the work, such as
   * `Removing expired rows`. Returns the result of the work, or rejects with its error.
   *
   * A terminal shows one line that is updated. Elsewhere, Portico prints a line every five seconds,
   * and no line for shorter work.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /**
   * Ends the command with one clear line on standard error and exit code 1. This always throws, so
   * no code after it runs.
   */
  fail(line: string): never;
}

/**
 * Reports progress, such as `1200 removed`. You can call it as often as you like, because Portico
 * shows only some of the reports. If `atOnce` is true, Portico always shows the report. Set it
 * before a step that may block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/**
 * Adds commands to the console. The console also calls this for `--help`, so it must not open
 * anything.
 */
export type AddCommands = (program: Command, context: ConsoleContext) => void;
