/** An application's log. The kit's log never writes values whose names belong to secrets. */
export interface Log {
  /** Details for debugging. Written only at the level `debug`. */
  debug(message: string, context?: LogContext): void;
  /** A normal event. */
  info(message: string, context?: LogContext): void;
  /** Something that needs a look, although the request continued. */
  warning(message: string, context?: LogContext): void;
  /** A failure that needs attention. Pass the exception as `exception`. */
  error(message: string, context?: LogContext): void;
}
/**
 * Values for the `{placeholders}` in a message. `{exception}` expands to the error with its stack
 * and causes.
 */
export type LogContext = Readonly<Record<string, unknown>>;
