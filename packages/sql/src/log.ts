/**
 * The log of an application. Portico's own log (`openLog` in `portico`) never writes the values of
 * fields whose names look like secrets.
 */
export interface Log {
  /** Logs details for debugging. They are written only at the level `debug`. */
  debug(message: string, context?: LogContext): void;
  /** Logs a normal event. */
  info(message: string, context?: LogContext): void;
  /** Logs a problem that did not stop the request, but that an operator should look at. */
  warning(message: string, context?: LogContext): void;
  /** Logs a failure that needs attention. Pass the exception as `exception`. */
  error(message: string, context?: LogContext): void;
}
/**
 * The values for the `{placeholders}` in a message. `{exception}` becomes the error with its stack
 * and causes. Portico's own log also writes each other value as a field of the line.
 */
export type LogContext = Readonly<Record<string, unknown>>;
