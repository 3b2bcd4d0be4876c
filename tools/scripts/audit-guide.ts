/**
 * Writes the list of decisions in docs/audit-guide.md: each with the file and line of the code
 * that makes it. With --check, it reports a list that does not match the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SUBJECTS, type Decision } from './audit-guide/decisions.ts';

const root = path.join(import.meta.dirname, '..', '..');
const PAGE = path.join('docs', 'audit-guide.md');
const BEGIN = '<!-- decisions: npm run audit:guide writes them -->';
const END = '<!-- end of decisions -->';

/** A name at the left edge of a file, and a method in a class. */
const declared = (name: string) =>
  new RegExp(String.raw`^(export )?(abstract )?(async )?(class|function|const) ${name}\b`);
const method = (name: string) =>
  new RegExp(String.raw`^  (static |readonly |async |get )*${name}(\(|<| = |:)`);

/** Returns the line of a symbol, counted from 1. Throws an Error if the file does not have it. */
function lineOf(file: string, text: string, symbol: string): number {
  const lines = text.split('\n');
  const [first = '', second] = symbol.split('.');
  const start = lines.findIndex((line) => declared(first).test(line));
  if (start === -1) throw new Error(`${file} has no ${first}`);
  if (second === undefined) return start + 1;
  const end = lines.findIndex((line, at) => at > start && line === '}');
  const found = lines.findIndex((line, at) => at > start && at < end && method(second).test(line));
  if (found === -1) throw new Error(`${file} has no ${symbol}`);
  return found + 1;
}

function link(at: string): string {
  const separator = at.indexOf('#');
  const [file, symbol] = [at.slice(0, separator), at.slice(separator + 1)];
  const source = path.join('packages', file);
  const line = lineOf(source, readFileSync(path.join(root, source), 'utf8'), symbol);
  return `[\`${file}:${line}\`](../${source}) \`${symbol}\``;
}

const item = ({ question, at }: Decision) =>
  [`- ${question}`, ...at.map((each) => `  - ${link(each)}`)].join('\n');

/** Returns the decisions as Markdown, one list for each subject. */
export function decisionLists(): string {
  return SUBJECTS.map(({ title, decisions }) =>
    [`### ${title}`, '', ...decisions.map(item)].join('\n'),
  ).join('\n\n');
}

if (import.meta.main) {
  const file = path.join(root, PAGE);
  const page = readFileSync(file, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before === -1 || after === -1) throw new Error(`${PAGE} has no place for the decisions`);
  const written = `${page.slice(0, before)}${BEGIN}\n\n${decisionLists()}\n\n${page.slice(after)}`;
  if (!process.argv.includes('--check')) writeFileSync(file, written);
  else if (page !== written) {
    process.stderr.write(`${PAGE} does not match the code: npm run audit:guide\n`);
    process.exitCode = 1;
  }
}
