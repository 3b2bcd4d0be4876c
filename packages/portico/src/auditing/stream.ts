import { closeSync, constants, fstatSync, writeSync } from 'node:fs';
import { openToAppend } from '@portico/sql';

/** `oauth_server:audit:stream` for the standard output of the process. */
export const STANDARD_OUTPUT = '-';

/** Writes lines; throws where one could not be written. */
export interface LineStream {
  /** `forConsole`: standard output belongs to what a command prints, so that its lines go to standard error. */
  write(line: string, forConsole: boolean): void;
}

/** How long whoever reads may keep the process waiting for a line, in milliseconds. One who let it wait so long is not waited for again before a line is through. */
const LONGEST_WAIT = 1000;

/** What the next line has to know of the one before. */
interface Before {
  /** Whether it is not whole. */
  brokeOff: boolean;
  /** Whether nobody read it in time. */
  wasStuck: boolean;
}

/**
 * Appends to `-`, to a file, which is made for the account of the process alone, with its folder, or to a pipe with a name (FIFO), which has to have
 * a reader. The file is opened for each line: one that was moved away, as programs that rotate logs do, is begun anew without a restart.
 */
export function createLineStream(target: string): LineStream {
  const before: Before = { brokeOff: false, wasStuck: false };
  return {
    write(line, forConsole) {
      if (target === STANDARD_OUTPUT) writeLine(forConsole ? 2 : 1, line, before);
      else appendTo(target, line, before);
    },
  };
}

/** Without waiting, as for a pipe that nobody reads: opening that would hold up the whole process. Of a file it changes nothing. */
const APPENDING =
  // Windows has no such flag.
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);

function appendTo(file: string, line: string, before: Before): void {
  const descriptor = openToAppend(file, APPENDING);
  try {
    // What broke off may have been moved away since.
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
