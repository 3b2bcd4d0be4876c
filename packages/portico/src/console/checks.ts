import { failing, type Finding, type Log } from '@portico/sql';

export { failing, ok, skipped, warning, type Finding } from '@portico/sql';

/** A finding of the doctor, and the part of the server that it is about. */
export interface Check extends Finding {
  /** The name of the part, such as `schema`. */
  readonly part: string;
}

/** Whether no check fails. */
export function isHealthy(checks: readonly Check[]): boolean {
  return checks.every(({ outcome }) => outcome !== 'failing');
}

/**
 * Examines a part of the server. Adds the name of the part to each finding that names no part. If
 * the examination throws, returns a failing check and logs the details.
 */
export async function check(
  log: Log,
  part: string,
  examine: () => Promise<readonly (Finding | Check)[]> | readonly (Finding | Check)[],
): Promise<readonly Check[]> {
  try {
    return (await examine()).map((found) => ({ part, ...found }));
  } catch (exception) {
    log.error('The doctor could not check {part}: {exception}', { part, exception });
    const message = exception instanceof Error ? exception.message : String(exception);
    return [{ part, ...failing(message, 'for details, see the log') }];
  }
}
