import { parseAst } from 'rolldown/parseAst';

/**
 * An instrumented source file. It has the same lines, with calls that count which way the code
 * took.
 */
export interface Instrumented {
  readonly code: string;
  /** The number of the next place. */
  readonly next: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

interface Edit {
  readonly at: number;
  readonly text: string;
  /**
   * Whether the edit closes something. At the same position, closing edits come before opening
   * ones, and inner ones close first.
   */
  readonly closes: boolean;
  /** How many characters the edit replaces. */
  readonly replaces: number;
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
const LOOPS: ReadonlySet<string> = new Set([
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
]);
/** Methods of a text or a collection. The fuzzer tries their argument as a part of the input. */
const LOOK_UPS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'includes', 'has', 'get']);
const WORD = /^[\x21-\x7E]{2,60}$/;

/**
 * Instruments TypeScript. The result counts every function, both ways of every branch, and every
 * loop. It also records the texts that the code compares, and the texts in the source. Lines do not
 * move, so stack traces name the lines of the source.
 */
export function instrument(code: string, first: number): Instrumented {
  const program = parseAst(code, { lang: 'ts' }) as unknown as Node;
  const edits: Edit[] = [];
  const words = new Set<string>();
  let next = first;
  const count = () => `__c(${next++})`;
  const open = (at: number, text: string, replaces = 0) =>
    edits.push({ at, text, closes: false, replaces });
  const close = (at: number, text: string) => edits.push({ at, text, closes: true, replaces: 0 });

  function statement(node: Node, otherwise = false): void {
    const isBlock = node.type === 'BlockStatement';
    open(isBlock ? node.start + 1 : node.start, `${isBlock ? '' : '{'}${count()};`);
    const after = `${isBlock ? '' : '}'}${otherwise ? `else{${count()}}` : ''}`;
    if (after !== '') close(node.end, after);
  }
  function expression(node: Node): void {
    open(node.start, `(${count()},`);
    close(node.end, ')');
  }

  function visit(node: Node): void {
    if (node.type.startsWith('TS') && !/^TS(?:As|NonNull|Satisfies)/.test(node.type)) return;
    if (FUNCTIONS.has(node.type)) {
      const body = node['body'] as Node | null;
      if (body !== null) {
        if (body.type === 'BlockStatement') open(body.start + 1, `${count()};`);
        else expression(body);
      }
    } else if (LOOPS.has(node.type)) statement(node['body'] as Node);
    else if (node.type === 'CatchClause') statement(node['body'] as Node);
    else if (node.type === 'IfStatement') {
      const [yes, no] = [node['consequent'] as Node, node['alternate'] as Node | null];
      statement(yes, no === null);
      if (no !== null && no.type !== 'IfStatement') statement(no);
    } else if (node.type === 'ConditionalExpression') {
      expression(node['consequent'] as Node);
      expression(node['alternate'] as Node);
    } else if (node.type === 'LogicalExpression') expression(node['right'] as Node);
    else if (node.type === 'SwitchCase') {
      const [only] = node['consequent'] as readonly Node[];
      if (only !== undefined) open(only.start, `${count()};`);
    } else if (node.type === 'BinaryExpression') compared(node);
    else if (node.type === 'CallExpression') lookedUp(node);
    else if (
      node.type === 'Literal' &&
      typeof node['value'] === 'string' &&
      WORD.test(node['value'])
    )
      words.add(node['value']);
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) {
        for (const each of value as readonly unknown[]) if (isNode(each)) visit(each);
      } else if (isNode(value)) visit(value);
    }
  }

  function compared(node: Node): void {
    const operator = node['operator'] as string;
    const [left, right] = [node['left'] as Node, node['right'] as Node];
    if ((operator !== '===' && operator !== '!==') || !mayBeText(left) || !mayBeText(right)) return;
    const at = code.indexOf(operator, left.end);
    if (at < 0 || at > right.start) return;
    open(node.start, operator === '===' ? '__e(' : '!__e(');
    open(at, ',', 3);
    close(node.end, ')');
  }

  function lookedUp(node: Node): void {
    const [argument, ...more] = node['arguments'] as readonly Node[];
    const callee = node['callee'] as Node;
    const property = callee['property'] as Node | undefined;
    if (callee.type !== 'MemberExpression' || argument === undefined || more.length > 0) return;
    if (!LOOK_UPS.has(String(property?.['name'])) || !mayBeText(argument)) return;
    if (argument.type === 'SpreadElement') return;
    open(argument.start, '__w(');
    close(argument.end, ')');
  }

  visit(program);
  if (next === first) return { code, next };
  const header = `const {c:__c,e:__e,w:__w,l:__l}=globalThis.__fuzz;__l(${JSON.stringify([...words])});`;
  return { code: header + applied(code, edits), next };
}

function mayBeText({ type, value }: Node): boolean {
  if (type === 'Literal') return typeof value === 'string';
  return type !== 'UnaryExpression' && type !== 'ArrowFunctionExpression';
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { type?: unknown }).type === 'string'
  );
}

function applied(code: string, edits: readonly Edit[]): string {
  const order = edits.map((edit, index) => ({ ...edit, index }));
  order.sort((one, other) => {
    if (one.at !== other.at) return one.at - other.at;
    if (one.closes !== other.closes) return one.closes ? -1 : 1;
    return one.closes ? other.index - one.index : one.index - other.index;
  });
  let [result, from] = ['', 0];
  for (const { at, text, replaces } of order) {
    result += code.slice(from, at) + text;
    from = at + replaces;
  }
  return result + code.slice(from);
}
