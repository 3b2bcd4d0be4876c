/**
 * Writes docs/generated/conformance.md. It lists each rule of docs/specification.md and
 * docs/standards.md with the tests that show it. With --check, it reports rules without a test, and
 * tests that name a rule that does not exist.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { testFiles } from '../../test/support/test-files.ts';
import { readMarks, type Mark } from './conformance/marks.ts';
import { chapters, type Chapter, type Rule } from './conformance/rules.ts';
import { writePage } from './write-page.ts';

const root = path.join(import.meta.dirname, '..', '..');
const CHAPTERS = chapters(root);
const RULES = CHAPTERS.flatMap(({ rules }) => rules);
/** Tests that several test files run. */
const CONTRACTS = ['test/mounts/contract.ts'];
const MARKS = [...testFiles(root).map(({ path: file }) => file), ...CONTRACTS].flatMap((file) =>
  readMarks(root, file),
);
const SHOWN_BY = Map.groupBy(
  MARKS.flatMap((mark) => mark.ids.map((id) => ({ id, mark }))),
  ({ id }) => id,
);

// --- the page
// -------------------------------------------------------------------------------------------------

const INTRODUCTION = `# Conformance

Every rule that Portico is held to, and the tests that show it. The first four parts are [the specification](../specification.md);
the others are the standards that we claim, in our own words.

A test says which rules it shows, by \`// @shows AS-7.4\` above it.
\`npm run check\` fails when a rule has no test, and when a test names a rule that there is not. \`%s\`, \`%j\` and \`%d\` in a title
stand for the rows of a table in the test; where one row alone shows the rule, it is named in brackets. A rule that is **not
done** says why.
`;

/** Returns the page as Markdown, for docs/generated. */
export function conformancePage(): string {
  return [INTRODUCTION, summary(), ...CHAPTERS.map(chapterText)].join('\n');
}

function summary(): string {
  const rows = [...Map.groupBy(CHAPTERS, ({ source }) => source)].map(([source, parts]) => [
    source,
    ...counts(parts.flatMap(({ rules }) => rules)),
  ]);
  const header = ['Source', 'Rules', 'Shown by tests', 'Not applicable', 'Not done'];
  return table(header, [...rows, ['All', ...counts(RULES)]]);
}

function counts(rules: readonly Rule[]): readonly string[] {
  const beginning = (with_: string) =>
    rules.filter(({ withoutTest }) => withoutTest?.startsWith(with_)).length;
  const shown = rules.filter(({ id }) => SHOWN_BY.has(id)).length;
  return [rules.length, shown, beginning('Not applicable'), beginning('Not done')].map(String);
}

function chapterText({ title, rules }: Chapter): string {
  return `## ${title}\n\n${table(['Number', 'Rule', 'Shown by'], rules.map(ruleRow))}`;
}

function ruleRow({ id, text, withoutTest }: Rule): readonly string[] {
  const isOurs = /^(?:AS|MCP|API|HOST)-/.test(id);
  const here = fromGenerated(text).replaceAll(/(?<!\\)\|/g, '\\|');
  const tests = (SHOWN_BY.get(id) ?? []).map(({ mark }) => evidence(mark));
  return [
    isOurs ? `[${id}](../specification.md#${id.toLowerCase()})` : id,
    here,
    [
      ...tests,
      ...(withoutTest === undefined ? [] : [withoutTest.replace(/^Not done:/, '**Not done:**')]),
    ].join('<br>'),
  ];
}

/** Changes the links of a rule from a page in docs/ to a page in docs/generated. */
function fromGenerated(text: string): string {
  return text.replaceAll('](#', '](specification.md#').replaceAll(/\]\((?![a-z]+:)/g, '](../');
}

function evidence({ file, test }: Mark): string {
  return `[${path.basename(file).replace(/(?:\.test)?\.ts$/, '')}](../../${file}): ${plain(test ?? '')}`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Escapes markup in the text of a cell. */
function plain(value: string): string {
  return value
    .replaceAll(/[\\`*_[\]|]/g, String.raw`\$&`)
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

// --- what is wrong
// --------------------------------------------------------------------------------------------

function problems(): readonly string[] {
  return [...MARKS.flatMap(problemsOfMark), ...RULES.flatMap(problemsOfRule), ...strayCitations()];
}

function problemsOfMark({ ids, file, line, test, wellFormed }: Mark): readonly string[] {
  const where = `${file}:${line}`;
  if (!wellFormed) return [`${where}: write // @shows AS-7.4, RFC9207-2a`];
  return [
    ...(test === null ? [`${where}: stands above no test, and above no row of a table`] : []),
    ...ids.filter((id) => !isRule(id)).map((id) => `${where}: no such rule: ${id}`),
    ...(new Set(ids).size === ids.length ? [] : [`${where}: names a rule twice`]),
  ];
}

function problemsOfRule({ id, text, withoutTest }: Rule): readonly string[] {
  const isShown = SHOWN_BY.has(id);
  if (withoutTest === undefined) return isShown ? [] : [`${id} has no test: ${text}`];
  if (isShown) return [`${id} has a test, and a reason why it has none`];
  return /^Not (?:applicable|done): \S/.test(withoutTest)
    ? []
    : [`${id}: begin with "Not applicable: " or "Not done: "`];
}

/**
 * Finds numbers in code, tests and pages that look like rules of the specification but do not exist
 * there.
 */
function strayCitations(): readonly string[] {
  const files = globSync(['{src,test,examples,scripts,bench}/**/*.ts', 'docs/**/*.md', '*.md'], {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'dist',
  });
  return files.toSorted().flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        [...line.matchAll(/\b(?:AS|MCP|API|HOST)-\d+\.\d+/g)]
          .filter(([id]) => !isRule(id))
          .map(([id]) => `${file}:${at + 1}: no such rule: ${id}`),
      ),
  );
}

function isRule(id: string): boolean {
  return RULES.some((rule) => rule.id === id);
}

/** Reports what is wrong, or writes the page. */
function run(): void {
  if (process.argv.includes('--check')) {
    const found = [...new Set(problems())];
    for (const problem of found) process.stderr.write(`${problem}\n`);
    if (found.length > 0) process.exitCode = 1;
    return;
  }
  writePage('conformance', conformancePage());
  const [all, shown, inapplicable, open] = counts(RULES);
  process.stdout.write(
    `${all} rules: ${shown} shown by tests, ${inapplicable} not applicable, ${open} not done\n`,
  );
}

if (import.meta.main) run();
