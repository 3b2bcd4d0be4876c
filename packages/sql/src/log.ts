/** The log of an application. The kit's log never writes a value whose name is that of a secret. */
export interface Log {
  /** Details for debugging. Written only at the level `debug`. */
  debug(message: string, context?: LogContext): void;
  /** A normal event. */
  info(message: string, context?: LogContext): void;
  /** Something to look at, although the request went on. */
  warning(message: string, context?: LogContext): void;
  /** A failure that needs attention. Pass the exception as `exception`. */
  error(message: string, context?: LogContext): void;
}
/**
 * Values for the `{placeholders}` of a message. `{exception}` expands to the error with its stack
 * and causes.
 */
export type LogContext = Readonly<Record<string, unknown>>;
