import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FAPI2_RULES } from '../../../packages/portico/src/features/fapi2/rules.ts';

/** A rule that users can rely on. */
export interface Rule {
  /** The id by which a test names the rule: `AS-7.4`, `RFC6749-4.1.2b`. */
  readonly id: string;
  /** The text as Markdown, for a page in `docs/`. */
  readonly text: string;
  /** Why no test shows the rule. It begins with `Not applicable: ` or `Not done: `. */
  readonly withoutTest?: string;
}

export interface Chapter {
  /** A part of the specification, or a standard. */
  readonly source: string;
  readonly title: string;
  readonly rules: readonly Rule[];
}

export const SPECIFICATION = 'docs/specification.md';
const STANDARDS = 'docs/standards.md';
const WITHOUT_TESTS = 'tools/scripts/conformance/without-tests.md';

const ITEM = /^- (?:<a id="[^"]+"><\/a>)?\*\*([A-Z\d]+-[\d.]+[a-z]?)\*\* (.*)$/;
const ROW = /^\| <a id="[^"]+"><\/a>([A-Z]+-[\d.]+)(?: †)? *\|(.*)\|$/;

const FAPI2: Chapter = {
  source: 'FAPI 2.0 Security Profile',
  title: 'FAPI 2.0 Security Profile: an authorization server of the profile fapi2',
  rules: FAPI2_RULES.map(({ id, says }) => ({ id: `FAPI2-${id}`, text: says })),
};

/** Returns every rule, in the order of its page. */
export function chapters(root: string): readonly Chapter[] {
  const read = (file: string) => parseChapters(readFileSync(path.join(root, file), 'utf8'));
  const reasons = new Map(
    read(WITHOUT_TESTS).flatMap(({ rules }) => rules.map(({ id, text }) => [id, text])),
  );
  const found = [...read(SPECIFICATION), ...read(STANDARDS), FAPI2];
  const ids = found.flatMap(({ rules }) => rules.map(({ id }) => id));
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`${twice} is the number of two rules`);
  const unknown = [...reasons.keys()].find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new Error(`${WITHOUT_TESTS}: no such rule: ${unknown}`);
  return found.map((chapter) => ({
    ...chapter,
    rules: chapter.rules.map((rule) => {
      const withoutTest = reasons.get(rule.id);
      return withoutTest === undefined ? rule : { ...rule, withoutTest };
    }),
  }));
}

/**
 * Returns the chapters of a Markdown file that contain rules. Rules are list items or rows of a
 * table.
 */
function parseChapters(markdown: string): readonly Chapter[] {
  const found: { source: string; title: string; rules: { id: string; text: string }[] }[] = [];
  let source = '';
  let item: { id: string; text: string } | null = null;
  for (const line of markdown.split('\n')) {
    const [, depth, heading] = /^(#{1,2}) (.+)$/.exec(line) ?? [];
    if (depth === '#') source = heading ?? '';
    if (heading !== undefined) found.push({ source, title: heading, rules: [] });
    if (item !== null && line.startsWith('  ')) {
      item.text += ` ${line.trim()}`;
      continue;
    }
    item = null;
    const [, id, text = ''] = ITEM.exec(line) ?? ROW.exec(line) ?? [];
    if (id === undefined) continue;
    const rule = { id, text: line.startsWith('|') ? cells(text) : text };
    found.at(-1)?.rules.push(rule);
    if (!line.startsWith('|')) item = rule;
  }
  return found.filter(({ rules }) => rules.length > 0);
}

function cells(row: string): string {
  const texts = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
  return texts.filter((cell) => cell !== '').join(' · ');
}
