import type { Source } from './source.ts';
import { line, svg, text, widthOf } from './svg.ts';

/**
 * A diagram of what is valid at which time, from left to right. Its lines are:
 *
 * - `from: 0` and `until: 70` are the ends of the time that is shown.
 * - `mark 30: the next key is due` is a moment.
 * - `row Key A: signs 0 30 strong; verifies 30 31` is a line with its spans. A strong span is
 *   filled.
 */
interface Span {
  readonly label: string;
  readonly from: number;
  readonly until: number;
  readonly isStrong: boolean;
}

const LEFT = 110;
const WIDTH = 740;
const RIGHT = 28;
const ROW = 56;

export function timeline(name: string, source: Source): string {
  const first = numberOf('from');
  const last = numberOf('until');
  const x = (at: number) => LEFT + ((at - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const marks = matches(/^mark ([\d.]+): (.+)$/).map(([, at = '', label = '']) => ({
    at: Number(at),
    label,
  }));
  const rows = matches(/^row ([^:]+): (.+)$/).map(([, label = '', spans = '']) => ({
    label,
    spans: spans.split(';').map((each) => span(each.trim())),
  }));
  const top = 24 + marks.length * 22;
  const height = top + rows.length * ROW + 18;

  function matches(pattern: RegExp): readonly RegExpExecArray[] {
    return source.lines.flatMap((each) => {
      const found = pattern.exec(each);
      return found === null ? [] : [found];
    });
  }
  function numberOf(wanted: string): number {
    const [found] = matches(new RegExp(`^${wanted}: ([\\d.]+)$`));
    if (found === undefined) throw new Error(`${name}: there is no line '${wanted}: <number>'`);
    return Number(found[1]);
  }
  function span(each: string): Span {
    const [, label, from, until, strong] = /^(.+?) ([\d.]+) ([\d.]+)( strong)?$/.exec(each) ?? [];
    if (label === undefined) throw new Error(`${name}: what is '${each}'?`);
    return { label, from: Number(from), until: Number(until), isStrong: strong !== undefined };
  }
  function spanParts({ label, from, until, isStrong }: Span, y: number): readonly string[] {
    const breadth = x(until) - x(from);
    if (widthOf(label, 6.7) > breadth)
      throw new Error(
        `${name}: '${label}' needs ${widthOf(label, 6.7)} units, and there are ${breadth}`,
      );
    return [
      `<rect class="${isStrong ? 'solid' : 'box'}" x="${x(from).toFixed(1)}" y="${y}" width="${(breadth - 2).toFixed(1)}" height="30" rx="5"/>`,
      text(
        Math.round((x(from) + x(until)) / 2),
        y + 20,
        label,
        isStrong ? 'number' : 'middle soft',
      ),
    ];
  }

  const parts = [
    ...marks.flatMap(({ at, label }, index) => {
      const y = 28 + index * 22;
      const isLate = x(at) + widthOf(label, 6.7) > WIDTH - RIGHT;
      return [
        line('stop', x(at), y - 10, x(at), height - 14),
        text(x(at) + (isLate ? -8 : 8), y, label, isLate ? 'end soft halo' : 'soft halo'),
      ];
    }),
    ...rows.flatMap(({ label, spans }, index) => {
      const y = top + index * ROW + 8;
      return [text(24, y + 20, label, 'strong'), ...spans.flatMap((each) => spanParts(each, y))];
    }),
  ];
  const { title, description } = source;
  return svg({ name, title, description, width: WIDTH, height, parts });
}
