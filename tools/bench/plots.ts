// Draws the figures of a run as bars (SVG). There is a picture for each table of RESULTS.md that is
// easier to read as a picture. `npm run figures` draws the stored figures.
import path from 'node:path';
import {
  circumstancesOf,
  isRun,
  RESULTS,
  storedResults,
  type FiguresByWork,
  type Run,
} from './results.ts';

/** A group of bars. Each group has its own scale: its longest bar has the full width. */
export interface BarGroup {
  readonly title: string;
  readonly bars: readonly { readonly label: string; readonly value: number }[];
}

export interface BarChart {
  readonly title: string;
  /** What the length of a bar means, and whether longer is better. */
  readonly description: string;
  /** The unit after each figure, such as ` ms`. */
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

/** Returns the pictures of a run, by the last part of their file names. */
export function chartsOf(figures: Run): Readonly<Record<string, BarChart>> {
  const groups = (byWork: FiguresByWork) =>
    Object.entries(byWork).map(([title, values]) => ({
      title,
      bars: barsOf(figures.servers, values),
    }));
  const scale = 'Each group has a scale of its own.';
  const how = `${figures.how} ${circumstancesOf(figures)}`.replaceAll('`', '');
  return {
    rate: {
      title: 'Requests a second, 10 connections',
      description: `Longer is better. ${scale} ${how}`,
      unit: '',
      groups: groups(figures.perSecond),
    },
    p99: {
      title: '99th percentile, 50 connections',
      description: `Milliseconds; shorter is better. ${scale} ${how}`,
      unit: ' ms',
      groups: groups(figures.p99),
    },
    process: {
      title: 'Start and memory',
      description: `Shorter is better. ${scale} ${how}`,
      unit: '',
      groups: [
        { title: 'start to first answer, ms', bars: barsOf(figures.servers, figures.start) },
        { title: 'peak memory, MiB', bars: barsOf(figures.servers, figures.memory) },
      ],
    },
  };
}

const barsOf = (servers: readonly string[], values: Readonly<Record<string, number>>) =>
  servers.flatMap((label) => {
    const value = values[label];
    return value === undefined ? [] : [{ label, value }];
  });

const [WIDTH, LEFT, RIGHT, BAR, STEP, GAP, LINE] = [720, 190, 90, 14, 20, 34, 16];

/**
 * Returns the chart as SVG. Its background is light or dark, like the reader's system. The chart
 * also contains its figures as text, for readers who do not see the picture.
 */
export function drawBars(chart: BarChart): string {
  const lines = wrapped(chart.description);
  let y = 48 + lines.length * LINE + 12;
  const groups = chart.groups.map((group) => {
    const drawn = drawGroup(group, y, chart.unit);
    y += group.bars.length * STEP + GAP;
    return drawn;
  });
  const spoken = chart.groups.map(
    ({ title, bars }) =>
      `${title}: ${bars.map(({ label, value }) => `${label} ${shown(value)}`).join(', ')}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(chart.title)}</title>
<desc id="desc">${escaped(`${chart.description} ${spoken.join('; ')}.`)}</desc>
<style>
  svg { color-scheme: light dark; }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1d2320; }
  .ground { fill: #fffefb; }
  .head { font-size: 16px; font-weight: 600; }
  .soft { fill: #55605a; font-size: 12px; }
  .group { font-weight: 600; }
  .bar { fill: #a9b2ad; }
  .ours { fill: #1f5c4d; }
  .limit { fill: none; stroke: #7c8781; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ecefe9; }
    .ground { fill: #1c2220; }
    .soft { fill: #a9b4ac; }
    .bar { fill: #59645e; }
    .ours { fill: #8fd3bd; }
    .limit { stroke: #8b968f; }
  }
</style>
<rect class="ground" width="${WIDTH}" height="${y}" rx="8"/>
<text class="head" x="16" y="28">${escaped(chart.title)}</text>
${lines.map((line, at) => `<text class="soft" x="16" y="${48 + at * LINE}">${escaped(line)}</text>`).join('\n')}
${groups.join('\n')}
</svg>
`;
}

/** Breaks the text into lines that fit. */
function wrapped(text: string): readonly string[] {
  return text.match(/.{1,96}(?:\s+|$)/g)?.map((line) => line.trim()) ?? [];
}

function drawGroup({ title, bars }: BarGroup, y: number, unit: string): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ label, value }, at) => {
    const top = y + 14 + at * STEP;
    const width = Math.max(1, Math.round((value / most) * (WIDTH - LEFT - RIGHT)));
    const baseline = top + BAR - 3;
    return [
      `<text class="soft" x="${LEFT - 10}" y="${baseline}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${kindOf(label)}" x="${LEFT}" y="${top}" width="${width}" height="${BAR}" rx="2"/>`,
      `<text x="${LEFT + width + 8}" y="${baseline}">${shown(value)}${unit}</text>`,
    ].join('');
  });
  return [`<text class="group" x="16" y="${y + 4}">${escaped(title)}</text>`, ...rows].join('\n');
}

/**
 * Returns the kind of a bar: Portico, the bare limit (which is not a server that you could run), or
 * another server.
 */
const kindOf = (label: string) =>
  label.startsWith('portico') ? 'bar ours' : label === 'bare' ? 'limit' : 'bar';

/** Formats a figure as in the tables. */
export const shown = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Number.isInteger(value) ? 0 : 1 });

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** Returns the pictures of the stored figures, by the paths of their files. */
export function storedPictures(): ReadonlyMap<string, string> {
  const pictures = new Map<string, string>();
  for (const [name, result] of storedResults()) {
    if (!isRun(result)) continue;
    for (const [part, chart] of Object.entries(chartsOf(result)))
      pictures.set(path.join(RESULTS, `${name}-${part}.svg`), drawBars(chart));
  }
  return pictures;
}
