// Writes docs/conformance.md from scripts/conformance/; with --check, says what is wrong with either instead.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Chapter, Rule } from './conformance/rule.ts';
import { CHAPTERS } from './conformance/rules.ts';

const root = path.join(import.meta.dirname, '..');
const document = path.join(root, 'docs', 'conformance.md');
const SEPARATOR = ' > ';

function fileOf(test: string): string {
  return test.slice(0, test.indexOf(SEPARATOR));
}

function titleOf(test: string): string {
  return test.slice(test.indexOf(SEPARATOR) + SEPARATOR.length);
}

/** The test without the row of its table, and the row; null for all rows, or where there is no table. */
function rowOf(test: string): { readonly whole: string; readonly row: string | null } {
  const found = /^(.*) \[(.+)\]$/.exec(test);
  return { whole: found?.[1] ?? test, row: found?.[2] ?? null };
}

// --- the document ---------------------------------------------------------------------------------------------

const INTRODUCTION = `# Conformance

Every rule that this server is held to, in our own words, and the tests that show it. Document 1 is the specification of
the authorization server that this project was built to; our rulings are what it leaves open. The other sources are
the standards that we claim.

This page is written by \`npm run conformance\` from \`scripts/conformance/\`, and \`npm run check\` fails when a test
that it names does not exist, or when a rule names none. \`%s\`, \`%j\` and \`%d\` in a title stand for the rows of a table in
the test. A rule that is **not done** says why.
`;

function conformance(chapters: readonly Chapter[]): string {
  return [INTRODUCTION, summary(chapters), ...chapters.map(chapterText)].join('\n');
}

function summary(chapters: readonly Chapter[]): string {
  const rows = sourcesOf(chapters).map((source) => {
    const rules = rulesOf(chapters.filter((chapter) => chapter.source === source));
    return [source, ...countsOf(rules)];
  });
  const header = ['Source', 'Rules', 'Shown by tests', 'Not applicable', 'Not done'];
  return table(header, [...rows, ['All', ...countsOf(rulesOf(chapters))]]);
}

function countsOf(rules: readonly Rule[]): readonly string[] {
  const counts = [
    rules.length,
    rules.filter(({ tests }) => tests.length > 0).length,
    rules.filter(({ notApplicable }) => notApplicable !== undefined).length,
    rules.filter(({ notDone }) => notDone !== undefined).length,
  ];
  return counts.map(String);
}

function chapterText({ source, about, rules }: Chapter): string {
  const rows = rules.map((rule) => [text(rule.section), text(rule.rule), evidence(rule)]);
  return `## ${source}: ${about}\n\n${table(['Section', 'Rule', 'Shown by'], rows)}`;
}

function evidence({ tests, notApplicable, notDone }: Rule): string {
  const told = [
    ...tests.map(
      (test) => `[${path.basename(fileOf(test), '.test.ts')}](../${fileOf(test)}): ${text(titleOf(test))}`,
    ),
    ...(notApplicable === undefined ? [] : [`Not applicable: ${text(notApplicable)}`]),
    ...(notDone === undefined ? [] : [`**Not done.** ${text(notDone)}`]),
  ];
  return told.join('<br>');
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** For a cell: nothing in it is markup. */
function text(value: string): string {
  return value
    .replaceAll(/[\\`*_[\]|]/g, String.raw`\$&`)
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function sourcesOf(chapters: readonly Chapter[]): readonly string[] {
  return [...new Set(chapters.map(({ source }) => source))];
}

function rulesOf(chapters: readonly Chapter[]): readonly Rule[] {
  return chapters.flatMap(({ rules }) => rules);
}

// --- what is wrong with it ------------------------------------------------------------------------------------

function problems(chapters: readonly Chapter[]): readonly string[] {
  const exists = testLookup();
  const found = chapters.flatMap(({ source, rules }) =>
    rules.flatMap((rule) => {
      const where = `${source} ${rule.section}: ${rule.rule}`;
      const missing = rule.tests
        .filter((test) => !exists(test))
        .map((test) => `${where}\n  no such test: ${test}`);
      return [...missing, ...unexplained(rule).map((problem) => `${where}\n  ${problem}`)];
    }),
  );
  const written = existsSync(document) ? readFileSync(document, 'utf8') : null;
  const stale =
    written === conformance(chapters) ? [] : ['docs/conformance.md is out of date: npm run conformance'];
  return [...found, ...stale];
}

function unexplained({ tests, notApplicable, notDone }: Rule): readonly string[] {
  const explanations = [notApplicable, notDone].filter((why) => why !== undefined);
  if (explanations.some((why) => why.trim() === '')) return ['the reason is empty'];
  if (tests.length > 0 && explanations.length > 0)
    return ['has tests, and says that there is nothing to show'];
  if (tests.length === 0 && explanations.length !== 1) return ['has neither a test nor one reason why not'];
  return new Set(tests).size === tests.length ? [] : ['names a test twice'];
}

/** Whether a test exists: as Vitest lists it, or, in a file that this machine leaves out, as it is written there. */
function testLookup(): (test: string) => boolean {
  const listed = listedTests();
  const files = new Set([...listed].map(fileOf));
  return (test) => {
    const { whole, row } = rowOf(test);
    const title = titleOf(whole).split(SEPARATOR);
    const exists = files.has(fileOf(test)) ? listed.has(whole) : isWritten(fileOf(test), title);
    return exists && (row === null || isWritten(fileOf(test), [row]));
  };
}

function listedTests(): ReadonlySet<string> {
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  // Listing needs no database server, so a missing one is no fault here.
  const env = { ...process.env, CI: undefined, STRESS: undefined };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, 'list', '--json', '--project', 'sqlite'],
    { cwd: root, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`Vitest cannot list the tests:\n${stderr}`);
  const tests = JSON.parse(stdout) as readonly { readonly file: string; readonly name: string }[];
  // Vitest reads titles off the source, and keeps the backslash of an escaped quote.
  const nameOf = (name: string) => name.replaceAll(/\\(['"`])/g, '$1');
  return new Set(tests.map(({ file, name }) => path.relative(root, file) + SEPARATOR + nameOf(name)));
}

/**
 * Whether a file holds all of these in quotes. Vitest lists the rows of no table, and no test that needs a Chromium or a
 * database server which this machine has not.
 */
function isWritten(name: string, texts: readonly string[]): boolean {
  const file = path.join(root, name);
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8').replaceAll(/\\(['"`])/g, '$1');
  const quoted = (text: string) => [`'`, `"`, '`'].map((quote) => quote + text + quote);
  return texts.every((text) => quoted(text).some((literal) => source.includes(literal)));
}

if (process.argv.includes('--check')) {
  const found = problems(CHAPTERS);
  for (const problem of found) process.stderr.write(`${problem}\n`);
  if (found.length > 0) process.exitCode = 1;
} else {
  writeFileSync(document, conformance(CHAPTERS));
  const [all, shown, inapplicable, open] = countsOf(rulesOf(CHAPTERS));
  process.stdout.write(
    `${all} rules: ${shown} shown by tests, ${inapplicable} not applicable, ${open} not done\n`,
  );
}
