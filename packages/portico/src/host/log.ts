import { closeSync, writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { type Log, type LogContext, openToAppend } from '@portico/sql';
import { jsonText } from '../http/json.ts';

/** Where to write the log, and which levels to write. */
export interface LogOptions {
  /**
   * An absolute path, or `stdout` or `stderr` for this process's own streams. Only the account that
   * runs the process can read a new log file and its folder. If root creates them in another user's
   * folder, they belong to that user.
   */
  readonly file: string;
  /** The lowest level to write: `debug`, `info` (the default), `warning` or `error`. */
  readonly level?: string;
}

/** A log that can be closed. When `close` resolves, all earlier lines have been written. */
export interface ClosableLog extends Log {
  /** Closes the file. Lines that are logged after `close` are dropped. */
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
 * Opens a log with one JSON object per line. Replaces `{placeholders}` in messages with values from
 * the context. Opens the file immediately.
 */
export function openLog({ file, level = 'info' }: LogOptions): ClosableLog {
  const descriptor = STREAMS[file] ?? openToAppend(file);
  const writeLine = lineWriter(descriptor);
  const lowest = Object.entries(LEVELS).find(([name]) => name === level)?.[1] ?? LEVELS.info;
  let closed = false;
  const write =
    (severity: keyof typeof LEVELS) =>
    (message: string, context: LogContext = {}) => {
      // Do not write after closing, because another file may then have the same descriptor number.
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

/**
 * The descriptors of the standard streams. They are never closed, because other code also writes to
 * them.
 */
const STREAMS: Readonly<Record<string, number>> = { stdout: 1, stderr: 2 };

/**
 * How long one line can wait for a slow reader, in milliseconds. The process is blocked meanwhile.
 * After that, lines are dropped until the reader accepts data again.
 */
const LONGEST_WAIT = 1000;

/** What happened to the previous line of a stream. */
export interface LineState {
  /** Whether only part of the line was written. */
  brokeOff: boolean;
  /** Whether the reader was too slow for the line. */
  wasStuck: boolean;
}

/**
 * Returns a function that writes a line synchronously, so that no line is lost when the process
 * ends. If a line cannot be written, for example because the disk is full, the function drops the
 * line. The log must never end the application.
 */
function lineWriter(descriptor: number): (line: string) => void {
  const before: LineState = { brokeOff: false, wasStuck: false };
  return (line) => {
    try {
      writeLine(descriptor, line, before);
    } catch {
      // There is no other place to report this error.
    }
  };
}

const LINE_FEED = 0x0a;

/**
 * Writes a line. Throws if it cannot be written. If only part of the previous line was written,
 * begins a new line first.
 */
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
 * Serialize each field separately, so that a field that throws or has a `toJSON` does not affect
 * other fields.
 */
function asJson(fields: LogContext): string {
  const members = Object.entries(fields).flatMap(([key, value]) => {
    const text = valueAsJson(key, value);
    return text === undefined ? [] : [`${jsonText(key)}:${text}`];
  });
  return `{${members.join()}}`;
}

/**
 * Returns an error's fields, which JSON would leave out. For the field `err`, the usual name of a
 * logged error.
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
      // Show an error's code, for example ECONNREFUSED. It is not a secret.
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

/** How many levels of nested objects and lists are shown as text, without secrets. */
const TEXT_DEPTH = 4;

function withoutInnerSecrets(value: unknown, depth = TEXT_DEPTH): unknown {
  if (typeof value !== 'object' || value === null || depth < 0) return value;
  if (Array.isArray(value)) return value.map((inner) => withoutInnerSecrets(inner, depth - 1));
  // These types have their own text, which does not depend on their fields.
  const isOpaque = value instanceof Error || ArrayBuffer.isView(value) || inspect.custom in value;
  if (isOpaque || Object.keys(value).length === 0) return value;
  const shown = Object.entries(withoutSecrets(value as LogContext));
  const copy = Object.fromEntries(
    shown.map(([key, inner]) => [key, withoutInnerSecrets(inner, depth - 1)]),
  );
  // The copy keeps the name of the class.
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
