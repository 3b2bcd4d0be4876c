import {
  contrast,
  formatColor,
  leastContrast,
  mixed,
  nearestReadable,
  parseColor,
  READABLE,
  type Color,
} from './colors.ts';

/** The background of an accent color, and how it is adapted, in light and in dark mode. */
interface Scheme {
  readonly name: 'light' | 'dark';
  /** `--page` and `--card` of the layout. */
  readonly page: Color;
  readonly card: Color;
  /** The color toward which an unreadable accent is mixed. */
  readonly towards: Color;
}

const BLACK: Color = [0, 0, 0];
const WHITE: Color = [255, 255, 255];

/** The same values as in the layout; `views.test.ts` compares them. */
export const SCHEMES: Readonly<Record<'light' | 'dark', Scheme>> = {
  light: { name: 'light', page: [0xf3, 0xf1, 0xec], card: [0xff, 0xfe, 0xfb], towards: BLACK },
  dark: { name: 'dark', page: [0x14, 0x18, 0x16], card: [0x1c, 0x22, 0x20], towards: WHITE },
};

/** Why this accent color is invalid, or null. */
export function accentProblem(text: string, name: Scheme['name']): string | null {
  const color = parseColor(text);
  if (color === null) return 'must be a colour such as #1f5c4d';
  const { page, card, towards } = SCHEMES[name];
  const ratio = leastContrast(color, [page, card]);
  if (ratio >= READABLE) return null;
  const where = contrast(color, card) < contrast(color, page) ? 'card' : 'page';
  const nearest = formatColor(nearestReadable(color, [page, card], towards));
  // Round down: 4.499 is too little, and must not be shown as 4.5.
  const shown = Math.floor(ratio * 100) / 100;
  return (
    `has a contrast of ${shown}:1 to the ${where} (${formatColor(SCHEMES[name][where])}) in the ${name} colours, and text needs ` +
    `${READABLE}:1; the nearest that has it is ${nearest}`
  );
}

/** The color itself if it is readable in dark mode, otherwise the nearest readable one. */
export function darkAccentOf(light: Color): Color {
  const { page, card, towards } = SCHEMES.dark;
  return nearestReadable(light, [page, card], towards);
}

/** The custom properties of the layouts for an accent color. */
export function accentProperties(accent: Color, name: Scheme['name']): string {
  const { card } = SCHEMES[name];
  const ink = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK;
  // Away from the color of the text on it, so that the text stays readable.
  const hover = mixed(accent, ink === WHITE ? BLACK : WHITE, 0.2);
  const tinted = [0.1, 0.08, 0.06, 0.04, 0.02].map((share) => mixed(card, accent, share));
  const page = tinted.find((each) => contrast(accent, each) >= READABLE) ?? card;
  const properties = { accent, 'accent-hover': hover, 'accent-ink': ink, 'accent-page': page };
  return Object.entries(properties)
    .map(([property, color]) => `--${property}: ${formatColor(color)};`)
    .join(' ');
}
