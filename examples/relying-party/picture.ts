import { html } from 'hono/html';
import type { Html } from './pages.ts';
import type { Party, Step } from './steps.ts';

/** The horizontal position of each party's line. The picture is 360 units wide. */
const LANES: Readonly<Record<Party, { readonly x: number; readonly name: string }>> = {
  browser: { x: 52, name: 'Your browser' },
  notebook: { x: 170, name: 'Notebook' },
  portal: { x: 316, name: 'Portal' },
};
const TOP = 44;
const ROW = 46;

/**
 * Draws a sign-in. Each party is a line, and each step is an arrow. The arrows have the same
 * numbers as the list beside the picture.
 */
export function picture(steps: readonly Step[]): Html {
  const height = TOP + steps.length * ROW + 8;
  return html`<svg
    class="picture"
    viewBox="0 0 360 ${height}"
    role="img"
    aria-labelledby="picture-title"
  >
    <title id="picture-title">
      ${steps.length} steps between your browser, Notebook and Portal; the list describes each step
    </title>
    ${Object.values(LANES).map(
      ({ x, name }) =>
        html`<text class="party" x="${x}" y="20">${name}</text>
          <line class="lane" x1="${x}" y1="32" x2="${x}" y2="${height}" />`,
    )}
    ${steps.map((each, index) => row(each, index))}
  </svg>`;
}

function row({ from, to, label }: Step, index: number): Html {
  const y = TOP + index * ROW + 28;
  if (from === to) return ownRow(label, y, index);
  const [start, end] = [LANES[from].x, LANES[to].x];
  const direction = Math.sign(end - start);
  const tip = end - direction * 2;
  const back = tip - direction * 9;
  return html`<text class="label" x="${(start + end) / 2 + direction * 3}" y="${y - 9}"
      >${label}</text
    >
    <line class="arrow" x1="${start}" y1="${y}" x2="${back}" y2="${y}" />
    <path class="tip" d="M ${tip} ${y} L ${back} ${y - 5} L ${back} ${y + 5} Z" />
    ${badge(start, y, index)}`;
}

/** Draws a step that involves only one party and the person. */
function ownRow(label: string, y: number, index: number): Html {
  const [left, right] = [LANES.browser.x, LANES.portal.x];
  return html`<rect
      class="own"
      x="${left}"
      y="${y - 16}"
      width="${right - left}"
      height="30"
      rx="8"
    />
    <text class="label" x="${(left + right) / 2 + 6}" y="${y + 4}">${label}</text>
    ${badge(left, y - 1, index)}`;
}

function badge(x: number, y: number, index: number): Html {
  return html`<circle class="badge" cx="${x}" cy="${y}" r="10" />
    <text class="number" x="${x}" y="${y + 4}">${index + 1}</text>`;
}
