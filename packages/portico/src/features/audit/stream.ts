import { closeSync, constants, fstatSync, writeSync } from 'node:fs';
import { openToAppend } from '@portico/sql';

/** The `oauth_server:audit:stream` for the standard output of the process. */
const STANDARD_OUTPUT = '-';

/**
 * How long a slow reader may block the process for one line, in milliseconds. After that, the
 * process does not wait for this reader until a line has been written.
 */
const LONGEST_WAIT = 1000;

/** What the next line must know about the last one. */
interface Before {
  /** Whether it was only partly written. */
  brokeOff: boolean;
  /** Whether it was not read in time. */
  wasStuck: boolean;
}

/**
 * Appends to `-`, to a file, or to a named pipe (FIFO), which must have a reader. A file and its
 * folder are created for the account of the process only. The file is opened for each line, so
 * after log rotation has moved it, a new one starts without a restart.
 */
export class LineStream {
  readonly #target: string;
  readonly #before: Before = { brokeOff: false, wasStuck: false };

  constructor(target: string) {
    this.#target = target;
  }

  /**
   * Throws if the line could not be written. `forConsole`: standard output belongs to a command's
   * own output, so write to standard error instead.
   */
  write(line: string, forConsole: boolean): void {
    if (this.#target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, this.#before);
    else appendTo(this.#target, line, this.#before);
  }
}

/**
 * Non-blocking, because opening a pipe without a reader would block the whole process. Does not
 * affect files.
 */
const APPENDING =
  // Windows has no such flag.
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);

function appendTo(file: string, line: string, before: Before): void {
  const descriptor = openToAppend(file, APPENDING);
  try {
    // The file with the partial line may have been moved away since.
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
