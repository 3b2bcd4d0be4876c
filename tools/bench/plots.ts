// Draws the figures of a run as bars (SVG). There is a picture for each table of RESULTS.md that is
// easier to read as a picture. `npm run bench` stores its figures in results/ and draws them. `node
// tools/bench/plots.ts` draws the stored figures.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The figures of a run of `run.ts`. A figure that was not measured is missing. */
export interface Figures {
  /** The store, how many times it was measured, and for how long. */
  readonly how: string;
  /** The targets, in the order of the tables. */
  readonly targets: readonly string[];
  /** Requests per second with few connections, by work and target. */
  readonly perSecond: FiguresByWork;
  /** The 99th percentile with many connections, in milliseconds, by work and target. */
  readonly p99: FiguresByWork;
  /** The time from the start of the process to its first response, in milliseconds, by target. */
  readonly start: Readonly<Record<string, number>>;
  /** The most memory in the run, in MiB, by target. */
  readonly memory: Readonly<Record<string, number>>;
}

type FiguresByWork = Readonly<Record<string, Readonly<Record<string, number>>>>;

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
export function chartsOf(figures: Figures): Readonly<Record<string, BarChart>> {
  const groups = (byWork: FiguresByWork) =>
    Object.entries(byWork).map(([title, values]) => ({
      title,
      bars: barsOf(figures.targets, values),
    }));
  const scale = 'Each group has a scale of its own.';
  return {
    rate: {
      title: 'Requests a second, 10 connections',
      description: `Longer is better. ${scale} ${figures.how}`,
      unit: '',
      groups: groups(figures.perSecond),
    },
    p99: {
      title: '99th percentile, 50 connections',
      description: `Milliseconds; shorter is better. ${scale} ${figures.how}`,
      unit: ' ms',
      groups: groups(figures.p99),
    },
    process: {
      title: 'Start and memory',
      description: `Shorter is better. ${scale} ${figures.how}`,
      unit: '',
      groups: [
        { title: 'start to first answer, ms', bars: barsOf(figures.targets, figures.start) },
        { title: 'peak memory, MiB', bars: barsOf(figures.targets, figures.memory) },
      ],
    },
  };
}

const barsOf = (targets: readonly string[], values: Readonly<Record<string, number>>) =>
  targets.flatMap((label) => {
    const value = values[label];
    return value === undefined ? [] : [{ label, value }];
  });

const [WIDTH, LEFT, RIGHT, BAR, STEP, GAP, LINE] = [720, 190, 90, 14, 20, 34, 16];

/**
 * Returns the chart as SVG. It has its own background, which is light or dark like the reader's
 * system. Its figures are also there as text, for readers who do not see the picture.
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

/**
 * The folder for figures and pictures. It is next to the sources, even if this code runs from
 * `dist`.
 */
export const RESULTS = path.join(
  import.meta.dirname,
  ...(path.basename(import.meta.dirname) === 'dist' ? ['..'] : []),
  'results',
);

/** Returns the pictures of the stored figures, by the paths of their files. */
export function storedPictures(): ReadonlyMap<string, string> {
  const pictures = new Map<string, string>();
  for (const file of globSync('*.json', { cwd: RESULTS }).toSorted()) {
    const figures = JSON.parse(readFileSync(path.join(RESULTS, file), 'utf8')) as Figures;
    for (const [name, chart] of Object.entries(chartsOf(figures)))
      pictures.set(
        path.join(RESULTS, `${path.basename(file, '.json')}-${name}.svg`),
        drawBars(chart),
      );
  }
  return pictures;
}

/** Stores the figures of a run and draws them. */
export function store(name: string, figures: Figures): void {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(path.join(RESULTS, `${name}.json`), `${JSON.stringify(figures, null, 2)}\n`);
  draw();
}

function draw(): void {
  for (const [file, picture] of storedPictures()) writeFileSync(file, picture);
}

if (import.meta.main) draw();
