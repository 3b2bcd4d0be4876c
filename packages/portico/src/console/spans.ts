/** Reads durations and days for all console commands. */

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

interface Failing {
  fail(message: string): never;
}

/**
 * Returns the duration in an option, such as `30d`, `12h` or `90`, in seconds. Ends the command for
 * any other text.
 */
export function readSpan(context: Failing, option: string, text: string): number {
  return (
    secondsIn(text) ??
    context.fail(
      `${option} must be a duration such as 30d, 12h, 90m or 45s, or a number of seconds`,
    )
  );
}

/** Returns null if the text is not a duration. */
export function secondsIn(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,15})([smhdw]?)$/.exec(text) ?? [];
  return digits === '' ? null : Number(digits) * (UNITS[unit] ?? 1);
}

/** Returns true for a day such as `2026-01-31`. JavaScript reads 31 February as 3 March. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
