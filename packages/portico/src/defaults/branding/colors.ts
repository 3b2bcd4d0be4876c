/** sRGB colors, and whether one is readable on another (WCAG 2.2). */

/** Red, green and blue, from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

const HEX = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Reads `#1f5c4d` or `#abc`. Null for anything else. */
export function parseColor(text: string): Color | null {
  if (!HEX.test(text)) return null;
  const digits = text.length === 4 ? text.replaceAll(/[^#]/g, '$&$&') : text;
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

/** Writes a color as `#1f5c4d`. */
export function formatColor(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** From 1 (the same color) to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: Color, other: Color): number {
  const [lower = 0, higher = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (higher + 0.05) / (lower + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Mixes `share` (0 to 1) of the other color into this one. */
export function mixed(color: Color, other: Color, share: number): Color {
  const part = (at: 0 | 1 | 2) => Math.round(color[at] + (other[at] - color[at]) * share);
  return [part(0), part(1), part(2)];
}

/** The contrast that text needs (WCAG 2.2, 1.4.3). A control needs only 3 (1.4.11). */
export const READABLE = 4.5;

/** The lowest contrast with any of these. */
export function leastContrast(color: Color, behind: readonly Color[]): number {
  return Math.min(...behind.map((each) => contrast(color, each)));
}

const STEPS = 256;

/** The first color that is readable on all of these, on the way to `towards`, which is readable. */
export function nearestReadable(color: Color, behind: readonly Color[], towards: Color): Color {
  for (let step = 0; step < STEPS; step += 1) {
    const tried = mixed(color, towards, step / STEPS);
    if (leastContrast(tried, behind) >= READABLE) return tried;
  }
  return towards;
}
