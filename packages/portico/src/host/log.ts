import { closeSync, writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { type Log, type LogContext, openToAppend } from '@portico/sql';
import { jsonText } from '../http/json.ts';

/** Where to write the log, and which levels to write. */
export interface LogOptions {
  /**
   * An absolute path, or `stdout` or `stderr` for this process's own streams. Only the process's
   * account can read a new file and its folder. If root creates them in another user's folder, they
   * belong to that user.
   */
  readonly file: string;
  /** The lowest level to write: `debug`, `info` (the default), `warning` or `error`. */
  readonly level?: string;
}

/** A log that can be closed. After closing, all earlier lines have been written. */
export interface ClosableLog extends Log {
  /** Closes the file. Lines that are logged after that are dropped. */
  close(): Promise<void>;
}

const LEVELS = { debug: 20, info: 30, warning: 40, error: 50 } as const;

/** Fields with these names are shown as `[redacted]`, whatever their letter case. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'registration_access_token',
  'token',
]);
const REDACTED = '[redacted]';

const isSecret = (key: string) => SECRET_KEYS.has(key.toLowerCase());

/**
 * Opens a log with one JSON object per line. Fills in `{placeholders}` in messages from the
 * context. Opens the file immediately.
 */
export function openLog({ file, level = 'info' }: LogOptions): ClosableLog {
  const descriptor = STREAMS[file] ?? openToAppend(file);
  const writeLine = lineWriter(descriptor);
  const lowest = Object.entries(LEVELS).find(([name]) => name === level)?.[1] ?? LEVELS.info;
  let closed = false;
  const write =
    (severity: keyof typeof LEVELS) =>
    (message: string, context: LogContext = {}) => {
      // Do not write after closing. By then, another file may have the same descriptor number.
      if (closed || LEVELS[severity] < lowest) return;
      const shown = withoutSecrets(context);
      const { exception: _, ...fields } = shown;
      const own = { level: severity, time: new Date().toISOString() };
      writeLine(
        asJson({ ...own, pid: process.pid, ...fields, ...own, message: expand(message, shown) }),
      );
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
    async close() {
      if (closed) return;
      closed = true;
      if (STREAMS[file] === undefined) closeSync(descriptor);
    },
  };
}

/** The standard streams. They are never closed, because other code also writes to them. */
const STREAMS: Readonly<Record<string, number>> = { stdout: 1, stderr: 2 };

/**
 * How long a slow reader can block the process for one line, in milliseconds. After that, lines are
 * dropped until the reader accepts data again.
 */
const LONGEST_WAIT = 1000;

/** The state of the previous line of a stream. */
export interface LineState {
  /** Whether only part of the line was written. */
  brokeOff: boolean;
  /** Whether the reader was too slow for the line. */
  wasStuck: boolean;
}

/**
 * Returns a function that writes a line before it returns, so that no line is lost when the process
 * ends. A line that cannot be written, for example because the disk is full, is dropped. A log must
 * never end the application.
 */
function lineWriter(descriptor: number): (line: string) => void {
  const before: LineState = { brokeOff: false, wasStuck: false };
  return (line) => {
    try {
      writeLine(descriptor, line, before);
    } catch {
      // The error cannot be reported anywhere else.
    }
  };
}

const LINE_FEED = 0x0a;

/** Writes a line, or throws. After a partial line, begins a new line first. */
export function writeLine(descriptor: number, line: string, before: LineState): void {
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

/**
 * Serialize each field separately. A field that fails or has a `toJSON` must not affect other
 * fields.
 */
function asJson(fields: LogContext): string {
  const members = Object.entries(fields).flatMap(([key, value]) => {
    const text = valueAsJson(key, value);
    return text === undefined ? [] : [`${jsonText(key)}:${text}`];
  });
  return `{${members.join()}}`;
}

/**
 * Returns an error's fields, which JSON would leave out. Used for the field `err`, the usual name
 * for an error.
 */
function errorFields(error: Error): LogContext {
  const shown: LogContext = {
    type: error.constructor.name,
    message: error.message,
    stack: asText(error),
  };
  return { ...shown, ...Object.fromEntries(Object.entries(error)) };
}

/**
 * Returns a value as JSON. A value that JSON cannot represent becomes a string. Returns undefined
 * for a value that JSON leaves out, for example a function.
 */
function valueAsJson(key: string, value: unknown): string | undefined {
  try {
    const isError = key === 'err' && value instanceof Error;
    const shown = isError ? errorFields(value) : value;
    return jsonText(shown, function (this: unknown, name, inner: unknown) {
      // Keep an error's code, for example ECONNREFUSED. It is not a secret.
      const isErrorCode = name === 'code' && (this === shown ? isError : this instanceof Error);
      if (isSecret(name) && !isErrorCode) return REDACTED;
      return typeof inner === 'bigint' ? String(inner) : inner;
    });
  } catch {
    return jsonText(asText(value));
  }
}

function withoutSecrets(context: LogContext): LogContext {
  return Object.fromEntries(
    Object.entries(context).map(([key, value]) => [key, isSecret(key) ? REDACTED : value]),
  );
}

/** Objects and lists are shown as text, without secrets, down to this depth. */
const TEXT_DEPTH = 4;

function withoutInnerSecrets(value: unknown, depth = TEXT_DEPTH): unknown {
  if (typeof value !== 'object' || value === null || depth < 0) return value;
  if (Array.isArray(value)) return value.map((inner) => withoutInnerSecrets(inner, depth - 1));
  // Types whose text does not come from their fields.
  const isOpaque = value instanceof Error || ArrayBuffer.isView(value) || inspect.custom in value;
  if (isOpaque || Object.keys(value).length === 0) return value;
  const shown = Object.entries(withoutSecrets(value as LogContext));
  const copy = Object.fromEntries(
    shown.map(([key, inner]) => [key, withoutInnerSecrets(inner, depth - 1)]),
  );
  // Keep the name of the class.
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(value) as object | null) as unknown;
}

function expand(message: string, context: LogContext): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
    Object.hasOwn(context, key) ? asText(context[key]) : placeholder,
  );
}

/**
 * Formats an error with its stack and causes, and any other value in a short form. Never throws,
 * because a log must never end the application.
 */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return value instanceof Error ? describeError(value) : inspectSafely(value);
  } catch {
    return '[cannot be shown]';
  }
}

function inspectSafely(value: unknown): string {
  try {
    return inspect(withoutInnerSecrets(value), { depth: TEXT_DEPTH, breakLength: Infinity });
  } catch {
    return '[cannot be shown]';
  }
}

/** Formats an error with its stack, and its causes with their stacks. */
export function describeError(error: Error, depth = 0): string {
  const text = error.stack ?? `${error.name}: ${error.message}`;
  if (error.cause === undefined || depth >= 5) return text;
  const cause =
    error.cause instanceof Error
      ? describeError(error.cause, depth + 1)
      : inspectSafely(error.cause);
  return `${text}\ncaused by ${cause}`;
}
