import { closeSync, constants, fstatSync } from 'node:fs';
import { openToAppend } from '@portico/sql';
import { writeLine, type LineState } from '../../host/log.ts';

/** The value of `oauth_server:audit:stream` for standard output. */
const STANDARD_OUTPUT = '-';

/**
 * Appends lines to standard output, a file, or a named pipe (FIFO) with a reader. Only the owner
 * can access the files and folders that it creates. Opens the file for each line, so log rotation
 * can move the file without a restart.
 */
export class LineStream {
  readonly #target: string;
  readonly #before: LineState = { brokeOff: false, wasStuck: false };

  constructor(target: string) {
    this.#target = target;
  }

  /**
   * Throws if the write fails. A command needs standard output for its own output, so `forConsole`
   * writes to standard error instead.
   */
  write(line: string, forConsole: boolean): void {
    if (this.#target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, this.#before);
    else appendTo(this.#target, line, this.#before);
  }
}

/**
 * Without `O_NONBLOCK`, opening a pipe without a reader would block the whole process. The flag has
 * no effect on files.
 */
const APPENDING =
  // Windows does not have `O_NONBLOCK`.
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);

function appendTo(file: string, line: string, before: LineState): void {
  const descriptor = openToAppend(file, APPENDING);
  try {
    // An empty file is new: log rotation has moved the file with the partial line. The new file
    // needs no line break first.
    if (before.brokeOff && isEmptyFile(descriptor)) before.brokeOff = false;
    writeLine(descriptor, line, before);
  } finally {
    closeSync(descriptor);
  }
}

function isEmptyFile(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isFile() && stats.size === 0;
}
