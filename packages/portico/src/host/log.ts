import { closeSync, writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { type Log, type LogContext, openToAppend } from '@portico/sql';
import { jsonText } from '../http/json.ts';

/** Where Portico writes the log, and which levels it writes. */
export interface LogOptions {
  /**
   * An absolute path, or `stdout` or `stderr`. If Portico creates the file and its folder, only the
   * account that runs the process can read them. If root creates them in another user's folder,
   * they belong to that user.
   */
  readonly file: string;
  /** The lowest level that is written: `debug`, `info` (the default), `warning` or `error`. */
  readonly level?: string;
}

/** A log that can be closed. */
export interface ClosableLog extends Log {
  /** Closes the file. Resolves when all earlier lines are written. Later lines are dropped. */
  close(): Promise<void>;
}

const LEVELS = { debug: 20, info: 30, warning: 40, error: 50 } as const;

/** Fields with these names appear as `[redacted]`. Letter case makes no difference. */
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
 * Opens a log that writes one JSON object per line. Values from the context replace
 * `{placeholders}` in messages. Opens the file immediately, and throws if that fails.
 *
 * @example
 * const log = openLog({ file: 'stdout' });
 * log.info('The job {job} has ended', { job });
 */
export function openLog({ file, level = 'info' }: LogOptions): ClosableLog {
  const descriptor = STREAMS[file] ?? openToAppend(file);
  const writeLine = lineWriter(descriptor);
  const lowest = Object.entries(LEVELS).find(([name]) => name === level)?.[1] ?? LEVELS.info;
  let closed = false;
  const write =
    (severity: keyof typeof LEVELS) =>
    (message: string, context: LogContext = {}) => {
      // After `close`, another file may have the same descriptor number.
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

/** These streams stay open, because other code also writes to them. */
const STREAMS: Readonly<Record<string, number>> = { stdout: 1, stderr: 2 };

/**
 * How long one line can wait for a slow reader, in milliseconds. The process is blocked while it
 * waits. After this time, lines are dropped until the reader accepts data again.
 */
const LONGEST_WAIT = 1000;

/** What happened to the previous line. */
export interface LineState {
  /** True if only a part of the line was written. */
  brokeOff: boolean;
  /** True if the reader was too slow for the line. */
  wasStuck: boolean;
}

/**
 * Returns a function that writes a line synchronously, so no line is lost when the process ends.
 * Drops a line that cannot be written, for example if the disk is full. A logging error must never
 * end the application.
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
 * Throws if the line cannot be written. Starts a new line first if only a part of the previous one
 * was written.
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
 * Serializes each field separately. A field that fails, or that is named `toJSON`, does not affect
 * the others.
 */
function asJson(fields: LogContext): string {
  const members = Object.entries(fields).flatMap(([key, value]) => {
    const text = valueAsJson(key, value);
    return text === undefined ? [] : [`${jsonText(key)}:${text}`];
  });
  return `{${members.join()}}`;
}

/** JSON would leave these fields out. `err` is the usual name for a logged error. */
function errorFields(error: Error): LogContext {
  const shown: LogContext = {
    type: error.constructor.name,
    message: error.message,
    stack: asText(error),
  };
  return { ...shown, ...Object.fromEntries(Object.entries(error)) };
}

/**
 * Returns a value as JSON, with bigints as strings. Returns the text form of a value that cannot be
 * serialized, for example a circular object. Returns undefined for a value that JSON leaves out,
 * for example a function.
 */
function valueAsJson(key: string, value: unknown): string | undefined {
  try {
    const isError = key === 'err' && value instanceof Error;
    const shown = isError ? errorFields(value) : value;
    return jsonText(shown, function (this: unknown, name, inner: unknown) {
      // The code of an error is no secret, for example ECONNREFUSED.
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

/**
 * How many levels of nested objects and lists appear in a message. Secrets are redacted at all
 * levels.
 */
const TEXT_DEPTH = 4;

/** The text forms of these classes show names and values that are not fields. */
const COLLECTIONS: readonly (new (entries: [string, string][]) => object)[] = [
  Map,
  Headers,
  URLSearchParams,
];

function withoutInnerSecrets(value: unknown, depth = TEXT_DEPTH): unknown {
  if (typeof value !== 'object' || value === null || depth < 0) return value;
  if (Array.isArray(value)) return value.map((inner) => withoutInnerSecrets(inner, depth - 1));
  const collection = COLLECTIONS.find((kind) => value instanceof kind);
  if (collection !== undefined) {
    const entries = [...(value as Map<unknown, unknown>)].map(([key, inner]): unknown => {
      const isHidden = typeof key === 'string' && isSecret(key);
      return [key, isHidden ? REDACTED : withoutInnerSecrets(inner, depth - 1)];
    });
    return new collection(entries as [string, string][]);
  }
  if (value instanceof Set)
    return new Set([...value].map((inner) => withoutInnerSecrets(inner, depth - 1)));
  if (value instanceof FormData) return withoutInnerSecrets(new Map(value), depth);
  if (value instanceof URL) return withoutQuery(value.href);
  if (value instanceof Request || value instanceof Response)
    return withoutInnerSecrets(describeMessage(value), depth);
  if (value instanceof Error) return { [inspect.custom]: () => describeFields(value, depth) };
  // A copy of the fields of these values would have a different text.
  const isOpaque = ArrayBuffer.isView(value) || inspect.custom in value;
  if (isOpaque || Object.keys(value).length === 0) return value;
  const shown = Object.entries(withoutSecrets(value as LogContext));
  const copy = Object.fromEntries(
    shown.map(([key, inner]) => [key, withoutInnerSecrets(inner, depth - 1)]),
  );
  // The text contains the name of the class.
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(value) as object | null) as unknown;
}

/** The query and the fragment can contain a code or a token. */
const withoutQuery = (url: string) => url.replace(/[?#].*/s, '');

function describeMessage(message: Request | Response): object {
  const { headers } = message;
  const url = withoutQuery(message.url);
  return message instanceof Request
    ? { method: message.method, url, headers }
    : { status: message.status, url, headers };
}

function expand(message: string, context: LogContext): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
    Object.hasOwn(context, key) ? asText(context[key]) : placeholder,
  );
}

/**
 * Formats an error with its stack and causes, and any other value in a short form. Never throws,
 * because a logging error must never end the application.
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

function describeFields(error: Error, depth: number): string {
  const { errors } = error as Partial<AggregateError>;
  const fields = [
    ...Object.entries(error),
    ...(errors === undefined ? [] : [['errors', errors] as const]),
  ];
  if (fields.length === 0) return describeError(error);
  const shown = fields.map(([key, inner]) => {
    // The code of an error is no secret, for example ECONNREFUSED.
    const isHidden = key !== 'code' && isSecret(key);
    return [key, isHidden ? REDACTED : withoutInnerSecrets(inner, depth - 1)];
  });
  const text = inspect(Object.fromEntries(shown), { depth, breakLength: Infinity });
  return `${describeError(error)} ${text}`;
}

/** Formats an error and its causes with their stacks. */
export function describeError(error: Error, depth = 0): string {
  const text = error.stack ?? `${error.name}: ${error.message}`;
  if (error.cause === undefined || depth >= 5) return text;
  const cause =
    error.cause instanceof Error
      ? describeError(error.cause, depth + 1)
      : inspectSafely(error.cause);
  return `${text}\ncaused by ${cause}`;
}
