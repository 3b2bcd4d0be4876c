/** The log of an application. The kit's never writes a value under the name of a secret. */
export interface Log {
  /** Details for somebody who looks for a fault; written at the level `debug` alone. */
  debug(message: string, context?: LogContext): void;
  /** What happened as it should. */
  info(message: string, context?: LogContext): void;
  /** What somebody should look at, though the request went on. */
  warning(message: string, context?: LogContext): void;
  /** What failed and needs attention; the exception under `exception`. */
  error(message: string, context?: LogContext): void;
}
/** Values for the `{placeholders}` of a message; `{exception}` expands to the error with its stack and causes. */
export type LogContext = Readonly<Record<string, unknown>>;
