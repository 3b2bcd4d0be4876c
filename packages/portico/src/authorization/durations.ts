const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From the largest unit to the smallest. */
const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1],
] as const;

/**
 * Returns a time in seconds as text: "30 days", "1 hour", "90 minutes". The text never states more
 * than the given time.
 */
export function durationText(seconds: number, locale: string): string {
  const whole = UNITS.find(([, length]) => seconds % length === 0) ?? UNITS[3];
  const rounded = UNITS.find(([, length]) => seconds >= 2 * length) ?? whole;
  // Use the larger unit if the time is a whole number of it. Otherwise round down.
  const [unit, length] = whole[1] >= rounded[1] ? whole : rounded;
  const count = Math.floor(seconds / length);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
