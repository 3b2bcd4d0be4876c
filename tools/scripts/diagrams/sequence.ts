import type { Source } from './source.ts';
import { badge, line, rect, svg, text, tip, widthOf } from './svg.ts';

/**
 * A diagram of who sends what to whom, from top to bottom. Its lines are:
 *
 * - `lane browser: The person’s browser` for each participant, from left to right
 * - `browser -> client: what is asked | more, in small letters`. `-->` is a response.
 * - `note browser client: what happens between these two`
 */
interface Lane {
  readonly name: string;
  readonly x: number;
  readonly label: string;
}

const MARGIN = 28;
const SMALL = 6.7;
const BOLD = 8.2;
const TOP = 56;

export function sequence(name: string, source: Source): string {
  const { lanes, width } = lanesOf(source);
  const parts: string[] = [];
  let y = TOP;
  let number = 0;
  for (const each of source.lines.filter((one) => !one.startsWith('lane '))) {
    const note = /^note (\w+)(?: (\w+))?: ([^|]+)(?:\|(.+))?$/.exec(each);
    const arrow = /^(\w+) (--?>) (\w+): ([^|]+)(?:\|(.+))?$/.exec(each);
    if (note !== null) {
      const [, from = '', to = from, label = '', more] = note;
      parts.push(...noteParts(lane(from), lane(to), y, label.trim(), more?.trim()));
      y += more === undefined ? 52 : 66;
    } else if (arrow !== null) {
      const [, from = '', kind = '', to = '', label = '', more] = arrow;
      number += 1;
      parts.push(
        ...arrowParts(lane(from), lane(to), y, kind === '-->', number, label.trim(), more?.trim()),
      );
      y += more === undefined ? 50 : 64;
    } else throw new Error(`${name}: what is '${each}'?`);
  }
  function lane(wanted: string): Lane {
    const found = lanes.find((each) => each.name === wanted);
    if (found === undefined) throw new Error(`${name}: there is no lane '${wanted}'`);
    return found;
  }

  function arrowParts(
    from: Lane,
    to: Lane,
    top: number,
    isAnswer: boolean,
    index: number,
    label: string,
    more: string | undefined,
  ): readonly string[] {
    const direction = Math.sign(to.x - from.x);
    const middle = (from.x + to.x) / 2 + direction * 6;
    const room = Math.abs(to.x - from.x) - 24;
    fits(label, widthOf(label), room);
    if (more !== undefined) fits(more, widthOf(more, SMALL), room + 24);
    const at = top + 26;
    return [
      text(middle, at - 10, label, 'middle strong halo'),
      line(isAnswer ? 'line answer' : 'line', from.x, at, to.x - direction * 10, at),
      tip(to.x - direction, at, direction),
      badge(from.x, at, index),
      ...(more === undefined ? [] : [text(middle, at + 18, more, 'middle soft halo')]),
    ];
  }

  function noteParts(
    from: Lane,
    to: Lane,
    top: number,
    label: string,
    more: string | undefined,
  ): readonly string[] {
    const wanted =
      Math.max(widthOf(label, BOLD), more === undefined ? 0 : widthOf(more, SMALL)) + 24;
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const breadth = Math.max(wanted, right - left);
    const start = Math.min(
      Math.max((left + right - breadth) / 2, MARGIN / 2),
      width - MARGIN / 2 - breadth,
    );
    fits(label, wanted, width - MARGIN);
    return [
      rect('box', start, top + 4, breadth, more === undefined ? 34 : 48),
      text(start + breadth / 2, top + 26, label, 'middle strong'),
      ...(more === undefined ? [] : [text(start + breadth / 2, top + 43, more, 'middle soft')]),
    ];
  }

  function fits(label: string, needed: number, room: number): void {
    if (needed > room)
      throw new Error(`${name}: '${label}' needs ${needed} units, and there are ${room}`);
  }

  const height = y + 16;
  const heads = lanes.flatMap(({ x, label }) => [
    text(x, 32, label, 'middle strong'),
    line('lane', x, 44, x, height - 14),
  ]);
  const { title, description } = source;
  return svg({ name, title, description, width, height, parts: [...heads, ...parts] });
}

const LANE_GAP = 250;

function lanesOf({ lines }: Source): { readonly lanes: readonly Lane[]; readonly width: number } {
  const named = lines.flatMap((each) => {
    const [, name, label] = /^lane (\w+): (.+)$/.exec(each) ?? [];
    return name === undefined || label === undefined ? [] : [{ name, label }];
  });
  const edge = MARGIN + 62;
  const lanes = named.map((each, index) => ({ ...each, x: edge + index * LANE_GAP }));
  return { lanes, width: 2 * edge + (named.length - 1) * LANE_GAP };
}
