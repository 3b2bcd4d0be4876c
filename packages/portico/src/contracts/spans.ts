/** Durations as people write them in a command: every command uses this parser. */

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Ends a command with a message. */
interface Failing {
  fail(message: string): never;
}

/**
 * The value of an option with a span, such as `30d`, `12h` or `90`, in seconds. Fails for anything
 * else.
 */
export function readSpan(context: Failing, option: string, text: string): number {
  return (
    secondsIn(text) ??
    context.fail(`${option} takes a span such as 30d, 12h, 90m or 45s, or a number of seconds`)
  );
}

/** A span in seconds; null for any other text. */
export function secondsIn(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,15})([smhdw]?)$/.exec(text) ?? [];
  return digits === '' ? null : Number(digits) * (UNITS[unit] ?? 1);
}
