import type { Command } from 'commander';
import type { Application } from './started-application.ts';

/**
 * The context of a console command. Print data to standard output, and everything else to standard
 * error.
 */
export interface ConsoleContext {
  /**
   * Starts the application once. Throws a ConfigurationError that names every problem. If
   * `log:path` is `-`, writes the log to standard error, so that standard output contains only the
   * command's data. If `serves` is true, writes the log to standard output instead.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data to standard output. */
  print(line: string): void;
  /** Prints a JSON document to standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the operator to standard error. */
  note(line: string): void;
  /**
   * Runs long work and shows its progress on standard error. `what` describes the work, for example
   * `Removing expired rows`. Returns the result, or rejects with the error of the work.
   *
   * On a terminal, updates one line in place. Without a terminal, prints a new line every five
   * seconds, so work that ends earlier prints nothing.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /** Prints the line to standard error and ends the command with exit code 1. Always throws. */
  fail(line: string): never;
}

/**
 * Reports progress, for example `1200 removed`. You can call it often, because Portico shows only
 * some of the reports. If `atOnce` is true, Portico always shows the report. Set `atOnce` before a
 * step that may block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/**
 * Adds commands to the console. The console also calls this function for `--help`, so it must not
 * open files or connections.
 */
export type AddCommands = (program: Command, context: ConsoleContext) => void;
