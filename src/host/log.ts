import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inspect } from 'node:util';
import type * as Pino from 'pino';
import type { Log, LogContext } from '../contracts/log.ts';

/** Where the log is written, and how much. */
export interface LogOptions {
  /**
   * Where the log is written: an absolute path, or `stdout` or `stderr` of this process. A file, and its folder, are made
   * for the account of the process alone.
   */
  readonly file: string;
  /** The lowest level that is written: `debug`, `info` (the default), `warning` or `error`. */
  readonly level?: string;
}

/** A log that can be closed; everything logged before is on the disk afterwards. */
export interface ClosableLog extends Log {
  /** Writes out what was logged and closes the file; what is logged afterwards is dropped. */
  close(): Promise<void>;
}

const LEVELS = { debug: 20, info: 30, warning: 40, error: 50 } as const;

/** Values under these names are never written. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'password',
  'secret',
  'client_secret',
  'code',
  'code_verifier',
  'access_token',
  'refresh_token',
  'id_token',
  'token',
]);

/** One JSON object a line, `{placeholders}` of the message filled from the context. The file is opened at once. */
export function openLog({ file, level = 'info' }: LogOptions): ClosableLog {
  const descriptor = STREAMS[file] ?? openFile(file);
  let opened: Writer | null = null;
  let closed = false;
  const write =
    (severity: keyof typeof LEVELS) =>
    (message: string, context: LogContext = {}) => {
      // After closing, the descriptor's number may belong to another file.
      if (closed) return;
      const shown = withoutSecrets(context);
      const { exception: _, ...fields } = shown;
      opened ??= openWriter(descriptor, level);
      opened.logger[severity](fields, expand(message, shown));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
    async close() {
      if (closed) return;
      closed = true;
      if (opened !== null) await opened.end();
      else if (STREAMS[file] === undefined) closeSync(descriptor);
    },
  };
}

/** Never closed: others write there too. */
const STREAMS: Readonly<Record<string, number>> = { stdout: 1, stderr: 2 };

function openFile(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return openSync(file, 'a', 0o600);
}

interface Writer {
  readonly logger: Record<keyof typeof LEVELS, (fields: LogContext, message: string) => void>;
  end(): Promise<void>;
}

/** The logger is loaded for the first line: an application that has nothing to say need not wait for it. */
function openWriter(descriptor: number, level: string): Writer {
  const { destination, pino } = createRequire(import.meta.url)('pino') as typeof Pino;
  const stream = destination({ fd: descriptor, sync: true });
  // A full disk must not end the process.
  stream.on('error', () => {});
  const logger = pino(
    {
      level,
      customLevels: LEVELS,
      useOnlyCustomLevels: true,
      base: { pid: process.pid },
      messageKey: 'message',
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    stream,
  );
  return {
    logger,
    end: () =>
      new Promise((resolve) => {
        stream.once('close', resolve);
        stream.end();
      }),
  };
}

function withoutSecrets(context: LogContext): LogContext {
  return Object.fromEntries(
    Object.entries(context).map(([key, value]) => [
      key,
      SECRET_KEYS.has(key.toLowerCase()) ? '[redacted]' : value,
    ]),
  );
}

function expand(message: string, context: LogContext): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
    Object.hasOwn(context, key) ? asText(context[key]) : placeholder,
  );
}

/** An error with its stack and its causes; anything else in short. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Error ? describeError(value) : inspect(value, { depth: 4, breakLength: Infinity });
}

/** With its stack, and the same of its causes. */
export function describeError(error: Error, depth = 0): string {
  const text = error.stack ?? `${error.name}: ${error.message}`;
  if (error.cause === undefined || depth >= 5) return text;
  const cause = error.cause instanceof Error ? describeError(error.cause, depth + 1) : inspect(error.cause);
  return `${text}\ncaused by ${cause}`;
}
