import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vitest/node';

/**
 * A mark that says which rules a test or a row of its table shows. The line above the test contains
 * `// @shows AS-7.4, RFC9207-2a`.
 */
export interface Mark {
  readonly ids: readonly string[];
  readonly file: string;
  /** The line of the mark. The first line is 1. */
  readonly line: number;
  /**
   * The titles of the describe blocks and of the test. For a row, its first column follows in
   * brackets. It is null if the mark is not above a test.
   */
  readonly test: string | null;
  /** Whether the mark is well-formed. If not, `ids` is empty. */
  readonly wellFormed: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const MARK = /^ *\/\/ @shows ([A-Z\d]+-[\d.]+[a-z]?(?:, [A-Z\d]+-[\d.]+[a-z]?)*)$/;

/**
 * Returns the marks of a test file. Also returns every comment that begins with an unknown `@`
 * word.
 */
export function readMarks(root: string, file: string): readonly Mark[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const tests = testsIn(source);
  const marks: Mark[] = [];
  let offset = 0;
  for (const [at, line] of source.split('\n').entries()) {
    offset += line.length + 1;
    if (!/^ *\/\/ *@(?!engines\b|ts-)/.test(line)) continue;
    const test = tests.get(nextCode(source, offset)) ?? null;
    const ids = MARK.exec(line)?.[1]?.split(', ') ?? [];
    marks.push({ ids, file, line: at + 1, test, wellFormed: ids.length > 0 });
  }
  return marks;
}

/** Returns the offset of the next code after comments. */
function nextCode(source: string, offset: number): number {
  const comments = /(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/y;
  comments.lastIndex = offset;
  comments.exec(source);
  return comments.lastIndex;
}

/** Returns the tests of a file and the rows of their tables, by their offsets. */
export function testsIn(source: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  const visit = (node: Node, titles: readonly string[]): void => {
    const kind = node.type === 'CallExpression' ? rootName(node['callee']) : null;
    if (kind !== 'test' && kind !== 'describe') {
      for (const child of childNodes(node)) visit(child, titles);
      return;
    }
    const [title, ...rest] = node['arguments'] as readonly Node[];
    const own = [...titles, title === undefined ? '' : titleText(title, source)];
    if (kind === 'test') found.set(node.start, own.join(' > '));
    if (kind === 'test') {
      for (const row of rowsOf(node))
        found.set(row.start, `${own.join(' > ')} [${titleText(row, source)}]`);
    }
    for (const child of rest) visit(child, own);
  };
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, []);
  return found;
}

/** Returns `test` for calls such as `test(…)` or `test.each(…)(…)`. */
function rootName(callee: unknown): string | null {
  const node = callee as Node;
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type === 'MemberExpression') return rootName(node['object']);
  return node.type === 'CallExpression' ? rootName(node['callee']) : null;
}

function rowsOf(test: Node): readonly Node[] {
  const [table] = ((test['callee'] as Node)['arguments'] ?? []) as readonly Node[];
  return table?.type === 'ArrayExpression' ? (table['elements'] as readonly Node[]) : [];
}

/** Returns a text as it is written in the source. For a row, returns its first column. */
function titleText(node: Node, source: string): string {
  const [first] = node.type === 'ArrayExpression' ? (node['elements'] as readonly Node[]) : [];
  if (first !== undefined) return titleText(first, source);
  if (node.type === 'Literal') return String(node['value']);
  return source.slice(node.start, node.end).replaceAll(/^`|`$/g, '');
}

function childNodes(node: Node): readonly Node[] {
  const isNode = (value: unknown): value is Node =>
    typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
  return Object.values(node).flat().filter(isNode);
}
