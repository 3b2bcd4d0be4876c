import type { BrandingConfig } from './config.ts';

/**
 * The custom properties for colors, computed from `--brand`. `y` is the relative luminance of a
 * color (WCAG 2.2).
 *
 * In light mode, browsers darken the brand color until its contrast with the page and the card is
 * at least 4.5:1. In dark mode, they lighten it. A color with enough contrast does not change. So
 * text on the accent color is white in light mode and black in dark mode.
 */
const LIGHT = `
    --accent: color(from var(--brand) xyz-d65
      calc(x * min(1, 0.155 / max(y, 0.001)))
      calc(y * min(1, 0.155 / max(y, 0.001)))
      calc(z * min(1, 0.155 / max(y, 0.001))));
    --accent-hover: color-mix(in srgb, var(--accent) 80%, black);
    --accent-ink: white;
    --accent-page: color-mix(in srgb, #fffefb, var(--accent) 3%);`;

const DARK = `
    --accent: color(from var(--brand) xyz-d65
      calc(x + (0.9505 - x) * max(0, (0.26 - y) / (1 - y)))
      calc(y + (1 - y) * max(0, (0.26 - y) / (1 - y)))
      calc(z + (1.089 - z) * max(0, (0.26 - y) / (1 - y))));
    --accent-hover: color-mix(in srgb, var(--accent) 80%, white);
    --accent-ink: black;
    --accent-page: color-mix(in srgb, #1c2220, var(--accent) 3%);`;

/** Other browsers do not support relative colors and show Portico's default colors. */
const SUPPORTED = '@supports (color: color(from red xyz-d65 x y z))';

/** Returns a style sheet with these colors, or an empty string. */
export function buildStyles({ accent, accent_dark: dark = accent }: BrandingConfig): string {
  const light = accent === undefined ? '' : `\n  :root { --brand: ${accent};${LIGHT}\n  }`;
  if (dark === undefined) return '';
  const inDark = `\n  @media (prefers-color-scheme: dark) { :root { --brand: ${dark};${DARK}\n  } }`;
  return `${SUPPORTED} {${light}${inDark}\n}`;
}
