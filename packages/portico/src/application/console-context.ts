import type { Command } from 'commander';
import type { Application } from './started-application.ts';

/**
 * What Portico passes to a console command. Commands print data to standard output, and everything
 * else to standard error.
 */
export interface ConsoleContext {
  /**
   * Starts the application on the first call. Later calls return the same one. Throws a
   * ConfigurationError with all problems.
   *
   * If `log:path` is `-`, the log goes to standard error, so standard output contains only the
   * command's data. With `serves`, the log goes to standard output.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data to standard output. */
  print(line: string): void;
  /** Prints a JSON document to standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the operator to standard error. */
  note(line: string): void;
  /**
   * Runs work that may take long, and shows its progress on standard error. `what` describes the
   * work, for example `Removing expired rows`. Returns the result of the work, or rejects with its
   * error.
   *
   * On a terminal, one line is updated in place. Elsewhere, a new line is printed every five
   * seconds, and for each report with `atOnce`. Short work without `atOnce` prints nothing.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /** Prints a line to standard error, and ends the command with exit code 1. Always throws. */
  fail(line: string): never;
}

/**
 * Reports progress, for example `1200 removed`. You can call it often: Portico does not show every
 * report. Set `atOnce` before a step that may block the process, so the report is always shown.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/**
 * Adds commands to the console. Must not open files or connections, because it also runs for
 * `--help`.
 */
export type AddCommands = (program: Command, context: ConsoleContext) => void;
