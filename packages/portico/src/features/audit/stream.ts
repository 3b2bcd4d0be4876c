import { closeSync, constants, fstatSync } from 'node:fs';
import { openToAppend } from '@portico/sql';
import { writeLine, type LineState } from '../../host/log.ts';

/** The value of `oauth_server:audit:stream` that means standard output. */
const STANDARD_OUTPUT = '-';

/**
 * Appends lines to standard output, to a file, or to a named pipe (FIFO) that has a reader. Creates
 * missing files and folders, which only their owner can access. Opens the file again for each line,
 * so that log rotation can move the file without a restart.
 */
export class LineStream {
  readonly #target: string;
  readonly #before: LineState = { brokeOff: false, wasStuck: false };

  constructor(target: string) {
    this.#target = target;
  }

  /**
   * Writes a line, and throws if this fails. If `forConsole` is true, writes to standard error
   * instead of standard output, because a command needs standard output for its own output.
   */
  write(line: string, forConsole: boolean): void {
    if (this.#target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, this.#before);
    else appendTo(this.#target, line, this.#before);
  }
}

/**
 * The flags for opening the file or pipe. Without `O_NONBLOCK`, opening a pipe that has no reader
 * would block the whole process. This flag has no effect on files.
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
    // If the file is empty, log rotation has moved the earlier file, which ends with the partial
    // line. So the new file does not need a line break first.
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
