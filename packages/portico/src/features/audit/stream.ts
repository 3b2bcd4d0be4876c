import { closeSync, constants, fstatSync, writeSync } from 'node:fs';
import { openToAppend } from '@portico/sql';

/** The value of `oauth_server:audit:stream` for the process's standard output. */
const STANDARD_OUTPUT = '-';

/**
 * How long a slow reader can block the process for one line, in milliseconds. After that, the
 * process does not wait for this reader again until a line was written.
 */
const LONGEST_WAIT = 1000;

/** The state of the previous line. */
interface Before {
  /** Whether the stream wrote only a part of the line. */
  brokeOff: boolean;
  /** Whether the reader did not read the line in time. */
  wasStuck: boolean;
}

/**
 * Appends lines to standard output, to a file, or to a named pipe (FIFO) with a reader. If it
 * creates the file and its folder, only the account of the process can read them. It opens the file
 * again for each line. So if log rotation moves the file, a new file begins without a restart.
 */
export class LineStream {
  readonly #target: string;
  readonly #before: Before = { brokeOff: false, wasStuck: false };

  constructor(target: string) {
    this.#target = target;
  }

  /**
   * Writes a line. Throws if it cannot write the line. With `forConsole`, writes to standard error
   * in place of standard output, because a command uses standard output for its own output.
   */
  write(line: string, forConsole: boolean): void {
    if (this.#target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, this.#before);
    else appendTo(this.#target, line, this.#before);
  }
}

/**
 * Opens the target without blocking, because a pipe without a reader would block the whole process.
 * For files, this flag makes no difference.
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
    // If the file is empty, log rotation has moved the file that ends with the partial line. So
    // this file needs no line break first.
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
