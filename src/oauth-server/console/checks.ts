import type { Log } from '../../contracts/log.ts';

/** What a doctor found of one part. Only `failing` is a fault; `skipped` says why the part could not be examined. */
export interface Finding {
  /** `warning` is something to look at that stops nothing. */
  readonly outcome: 'ok' | 'warning' | 'failing' | 'skipped';
  /** What was seen, in a sentence. */
  readonly detail: string;
  /** What to do about it; null when there is nothing to do. */
  readonly remedy: string | null;
}

/** A finding, and the part that it is about. */
export interface Check extends Finding {
  /** The part, such as `schema`. */
  readonly part: string;
}

export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });
export const failing = (detail: string, remedy: string): Finding => ({ outcome: 'failing', detail, remedy });
export const warning = (detail: string, remedy: string): Finding => ({ outcome: 'warning', detail, remedy });

export function isHealthy(checks: readonly Check[]): boolean {
  return checks.every(({ outcome }) => outcome !== 'failing');
}

/**
 * Runs the examination of a part; a finding belongs to this part unless it names another. An examination that throws becomes
 * a failing check, and the log gets the details.
 */
export async function check(
  log: Log,
  part: string,
  examine: () => Promise<readonly (Finding | Check)[]> | readonly (Finding | Check)[],
): Promise<readonly Check[]> {
  try {
    return (await examine()).map((found) => ({ part, ...found }));
  } catch (exception) {
    log.error('The doctor could not look at {part}: {exception}', { part, exception });
    const message = exception instanceof Error ? exception.message : String(exception);
    return [{ part, ...failing(message, 'see the log for the details') }];
  }
}
