import type { Command } from 'commander';
import type { Application } from './started-application.ts';

/**
 * What Portico passes to a console command. Commands print data to standard output, and everything
 * else to standard error.
 */
export interface ConsoleContext {
  /**
   * Starts the application on the first call, and later returns the same one. Throws a
   * ConfigurationError that lists every problem. If `log:path` is `-`, the log goes to standard
   * error, so that standard output contains only the command's data. If `serves` is true, the log
   * goes to standard output instead.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data to standard output. */
  print(line: string): void;
  /** Prints a JSON document to standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the operator to standard error. */
  note(line: string): void;
  /**
   * Runs work that may take a long time, and shows its progress on standard error. `what` describes
   * the work, for example `Removing expired rows`. Returns the result of the work, or rejects with
   * its error.
   *
   * On a terminal, one line shows the progress and is updated in place. Elsewhere, a new line is
   * printed every five seconds, and for each report with `atOnce`. So short work prints nothing,
   * unless it uses `atOnce`.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /** Prints a line to standard error, and ends the command with exit code 1. Always throws. */
  fail(line: string): never;
}

/**
 * Reports progress, for example `1200 removed`. You can call this function often, because Portico
 * does not show every report. If `atOnce` is true, the report is always shown. Set `atOnce` before
 * a step that may block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/**
 * Adds commands to the console. The function must not open files or connections, because it also
 * runs for `--help`.
 */
export type AddCommands = (program: Command, context: ConsoleContext) => void;
