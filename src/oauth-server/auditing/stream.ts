import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

/** `oauth_server:audit:stream` for the standard output of the process. */
export const STANDARD_OUTPUT = '-';

/** Writes lines; throws where one could not be written. */
export interface LineStream {
  /** `forConsole`: standard output belongs to what a command prints, so that its lines go to standard error. */
  write(line: string, forConsole: boolean): void;
}

/**
 * Appends to `-` or to a file, which is made for the account of the process alone, with its folder. The file is opened for each line:
 * one that was moved away, as programs that rotate logs do, is begun anew without a restart.
 */
export function createLineStream(target: string): LineStream {
  /** Whether the last line is not whole. */
  let brokeOff = false;
  return {
    write(line, forConsole) {
      const bytes = Buffer.from(`${brokeOff ? '\n' : ''}${line}\n`);
      brokeOff = true;
      if (target === STANDARD_OUTPUT) writeWhole(forConsole ? 2 : 1, bytes);
      else appendTo(target, bytes);
      brokeOff = false;
    },
  };
}

function appendTo(file: string, bytes: Buffer): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const descriptor = openSync(file, 'a', 0o600);
  try {
    writeWhole(descriptor, bytes);
  } finally {
    closeSync(descriptor);
  }
}

/** How long a reader of standard output may keep the process waiting for one line, in milliseconds. */
const LONGEST_WAIT = 1000;

function writeWhole(descriptor: number, bytes: Buffer): void {
  const until = performance.now() + LONGEST_WAIT;
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (!isFull || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
