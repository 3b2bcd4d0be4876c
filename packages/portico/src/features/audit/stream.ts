import { closeSync, constants, fstatSync, writeSync } from 'node:fs';
import { openToAppend } from '@portico/sql';

/** The value of `oauth_server:audit:stream` for standard output. */
const STANDARD_OUTPUT = '-';

/**
 * How long a slow reader can block the process for one line, in milliseconds. After that, the
 * process stops waiting for this reader until it can write a line again.
 */
const LONGEST_WAIT = 1000;

/** The state of the previous line. */
interface Before {
  /** Whether only part of the line was written. */
  brokeOff: boolean;
  /** Whether the reader was too slow for the line. */
  wasStuck: boolean;
}

/**
 * Appends lines to standard output, to a file, or to a named pipe (FIFO) with a reader. Files and
 * folders that it creates are readable only by the process's account. It reopens the file for each
 * line, so log rotation can move the file without a restart.
 */
export class LineStream {
  readonly #target: string;
  readonly #before: Before = { brokeOff: false, wasStuck: false };

  constructor(target: string) {
    this.#target = target;
  }

  /**
   * Writes a line. Throws on failure. With `forConsole`, writes to standard error instead of
   * standard output, because standard output is for the command's own output.
   */
  write(line: string, forConsole: boolean): void {
    if (this.#target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, this.#before);
    else appendTo(this.#target, line, this.#before);
  }
}

/**
 * Opens the target without blocking: a pipe without a reader would block the whole process. For
 * files, the flag makes no difference.
 */
const APPENDING =
  // Windows does not have this flag.
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);

function appendTo(file: string, line: string, before: Before): void {
  const descriptor = openToAppend(file, APPENDING);
  try {
    // If the file is empty, log rotation has moved the file with the partial line. This file needs
    // no line break first.
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

const LINE_FEED = 0x0a;

function writeLine(descriptor: number, line: string, before: Before): void {
  const bytes = Buffer.from(`${before.brokeOff ? '\n' : ''}${line}\n`);
  const until = performance.now() + (before.wasStuck ? 0 : LONGEST_WAIT);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
      before.brokeOff = bytes[written - 1] !== LINE_FEED;
      before.wasStuck = false;
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      before.wasStuck = isFull;
      if (!isFull || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
