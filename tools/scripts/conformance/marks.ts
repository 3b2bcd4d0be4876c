import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vitest/node';

/** A test, or a row of its table, that says which rules it shows: by `// @shows AS-7.4, RFC9207-2a` above it. */
export interface Mark {
  readonly ids: readonly string[];
  readonly file: string;
  /** The line of the mark, counted from 1. */
  readonly line: number;
  /**
   * The titles of its describe blocks and its own, the first column of a row in brackets; null
   * above anything else.
   */
  readonly test: string | null;
  /** Whether it has the form of a mark; `ids` is empty otherwise. */
  readonly wellFormed: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const MARK = /^ *\/\/ @shows ([A-Z\d]+-[\d.]+[a-z]?(?:, [A-Z\d]+-[\d.]+[a-z]?)*)$/;

/** The marks of a test file, and every comment that begins with an unknown `@` word. */
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

/** Where the code goes on after comments. */
function nextCode(source: string, offset: number): number {
  const comments = /(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/y;
  comments.lastIndex = offset;
  comments.exec(source);
  return comments.lastIndex;
}

/** The tests of a file, and the rows of their tables, by where they begin. */
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

/** `test` of `test(…)`, of `test.each(…)(…)` and the like. */
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

/** A text as it is written; of a row, its first column. */
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
