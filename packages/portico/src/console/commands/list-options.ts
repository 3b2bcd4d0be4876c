import type { PersonReference } from '../../person.ts';
import { isDay, secondsIn } from '../spans.ts';
import type { ConsoleContext } from '../../application/console-context.ts';

/** The options of list commands that print pages. */
export interface PageOptions {
  readonly limit?: string;
  readonly after?: string;
}

/** The method that returns the page validates these options. */
export function readPage({ limit, after }: PageOptions): {
  readonly limit?: number;
  readonly after?: string;
} {
  return {
    ...(limit === undefined ? {} : { limit: /^\d+$/.test(limit) ? Number(limit) : Number.NaN }),
    ...(after === undefined ? {} : { after }),
  };
}

/** Reads the value of `--person <provider_and_id...>`. */
export function readPerson(context: ConsoleContext, words: readonly string[]): PersonReference {
  const [provider, id] = words;
  if (provider === undefined || id === undefined || words.length > 2) {
    return context.fail("--person needs two values: the provider's name and the person's id");
  }
  return { provider, id };
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads an age or a point in time from an option such as `--since`. Returns milliseconds since
 * 1970. A date means the start of that day in UTC.
 */
export function readTime(
  context: ConsoleContext,
  option: string,
  text: string,
  now: number,
): number {
  // A number without a unit could mean seconds or days.
  const ago = /\d$/.test(text) ? null : secondsIn(text);
  if (ago !== null) return now - ago * 1000;
  const time = DATE.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  return context.fail(
    `${option} must be an age such as 30d, 12h, 90m or 45s, a date such as 2026-01-31, or a ` +
      'time such as 2026-01-31T12:00:00Z',
  );
}
