/**
 * The styles of all diagrams. A diagram is on a card that is light or dark like the reader's
 * system.
 */

const STYLE = `
    :root { --card: #ffffff; --edge: #d5dbe5; --ink: #1d2330; --soft: #566072; --lane: #c3ccda; --accent: #2f4b8f; --tint: #edf1f9; --on: #ffffff }
    @media (prefers-color-scheme: dark) {
      :root { --card: #171b24; --edge: #343c4c; --ink: #e9edf5; --soft: #a5b0c2; --lane: #465066; --accent: #a9c0ff; --tint: #242c3d; --on: #101a33 }
    }
    text { font: 14px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; fill: var(--ink) }
    .card { fill: var(--card); stroke: var(--edge) }
    .strong { font-weight: 600 }
    .halo { paint-order: stroke; stroke: var(--card); stroke-width: 5px; stroke-linejoin: round }
    .soft { font-size: 12.5px; fill: var(--soft) }
    .code { font: 12px ui-monospace, monospace }
    .middle { text-anchor: middle }
    .end { text-anchor: end }
    .number { font-size: 12px; font-weight: 600; fill: var(--on); text-anchor: middle }
    .lane { stroke: var(--lane); stroke-width: 2 }
    .line { stroke: var(--accent); stroke-width: 2; fill: none }
    .answer { stroke-dasharray: 6 4 }
    .solid { fill: var(--accent) }
    .box { fill: var(--tint); stroke: var(--accent) }
    .plain { fill: var(--card); stroke: var(--lane) }
    .stop { stroke: var(--soft); stroke-width: 2; stroke-dasharray: 2 4 }`;

/** A complete drawing. It has a name, and a description for people who do not see it. */
export interface Drawing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly parts: readonly string[];
}

export function svg({ name, title, description, width, height, parts }: Drawing): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${name}-title ${name}-desc">`,
    `  <title id="${name}-title">${escaped(title)}</title>`,
    `  <desc id="${name}-desc">${escaped(description)}</desc>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12"/>`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n');
}

export function text(x: number, y: number, value: string, classes = ''): string {
  return `<text x="${x}" y="${y}"${classes === '' ? '' : ` class="${classes}"`}>${escaped(value)}</text>`;
}

export function line(classes: string, x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="${classes}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

export function rect(classes: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${classes}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
}

/** Returns the tip of an arrow that comes from the left (1) or from the right (-1). */
export function tip(x: number, y: number, direction: number): string {
  const back = x - direction * 10;
  return `<path class="solid" d="M ${x} ${y} L ${back} ${y - 5} L ${back} ${y + 5} Z"/>`;
}

export function badge(x: number, y: number, number: number): string {
  return `<circle class="solid" cx="${x}" cy="${y}" r="11"/>${text(x, y + 4, String(number), 'number')}`;
}

/**
 * Estimates the width of a text, in units of the picture. The result is a bit too large, so that
 * the text fits with any font.
 */
export function widthOf(value: string, perCharacter = 7.4): number {
  return Math.ceil(value.length * perCharacter);
}

function escaped(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
