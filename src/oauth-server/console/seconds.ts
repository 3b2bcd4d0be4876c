const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** A span of time as a person writes it, such as `30d`, `12h` or `90`, in seconds; null for anything else. */
export function secondsOf(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,12})([smhdw]?)$/.exec(text) ?? [];
  return digits === '' ? null : Number(digits) * (UNITS[unit] ?? 1);
}
