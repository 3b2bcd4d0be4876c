import { failing, type Finding, type Log } from '@portico/sql';

export { failing, ok, skipped, warning, type Finding } from '@portico/sql';

/** A finding of the doctor, with the examined part. */
export interface Check extends Finding {
  /** The name of the examined part, such as `schema`. */
  readonly part: string;
}

/** Returns true if no check has failed. */
export function isHealthy(checks: readonly Check[]): boolean {
  return checks.every(({ outcome }) => outcome !== 'failing');
}

/**
 * Examines a part of the server, and adds the part's name to findings without one. If the
 * examination throws, logs the details and returns a failing check.
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
