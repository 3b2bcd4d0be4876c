import { compileFunction } from 'node:vm';
import type { Eta } from 'eta';

/** A problem in a view, with its location. */
export interface ViewProblem {
  /** The absolute path of the view's file. */
  readonly file: string;
  /** The line, counted from 1. Null if unknown. */
  readonly line: number | null;
  /** A short description of the problem. */
  readonly reason: string;
}

/**
 * Thrown if a view cannot be compiled or rendered. The message starts with the file and, if known,
 * the line. The cause is the original error.
 */
export class ViewError extends Error implements ViewProblem {
  override readonly name = 'ViewError';
  /** The absolute path of the view's file. */
  readonly file: string;
  /** The line, counted from 1. Null if unknown. */
  readonly line: number | null;
  /** A short description of the problem. */
  readonly reason: string;

  /** `cause` is the error that the engine or the view threw. */
  constructor({ file, line, reason }: ViewProblem, cause: unknown) {
    super(`${file}${line === null ? '' : `:${line}`}: ${reason}`, { cause });
    this.file = file;
    this.line = line;
    this.reason = reason;
  }
}

/** The code between `<%` and `%>`, and the line where it starts. */
interface Block {
  readonly type: string;
  readonly code: string;
  readonly line: number;
}

/** Makes the engine throw a ViewError with the file and line. */
export function locateErrors(eta: Eta): void {
  const compile = eta.compile.bind(eta);
  eta.compile = (text, options) => {
    try {
      return compile(text, options);
    } catch (error) {
      throw syntaxError(eta, text, options?.filepath ?? '', error);
    }
  };
  eta.RuntimeErr = (error, _, line, file) => {
    // An error from an included view already names the file and line.
    throw error instanceof ViewError
      ? error
      : new ViewError({ file, line, reason: errorMessage(error) }, error);
  };
}

/**
 * Corrects the engine's line numbers. It counts from the opening tag, but the code may start on a
 * later line.
 */
export function linesOfCode(): Eta['config']['plugins'][number] {
  let template = '';
  return {
    processTemplate: (text) => (template = text),
    processAST(blocks) {
      let position = 0;
      for (const block of blocks) {
        if (typeof block === 'string') continue;
        const begin = template.indexOf(block.val, template.indexOf('<%', position) + 2);
        block.lineNo = template.slice(0, begin).split('\n').length;
        position = begin + block.val.length;
      }
      return blocks;
    },
  };
}

function syntaxError(eta: Eta, text: string, file: string, error: unknown): ViewError {
  const parsed = /^(.*?) at line (\d+) col \d+:/.exec(errorMessage(error));
  if (parsed !== null)
    return new ViewError({ file, line: Number(parsed[2]), reason: parsed[1] ?? '' }, error);
  const blocks = eta
    .parse(text)
    .flatMap((block) =>
      typeof block === 'string'
        ? []
        : [{ type: block.t, code: block.val, line: block.lineNo ?? 1 }],
    );
  const found = unbalanced(blocks) ??
    syntaxErrorPlace(eta, text) ?? { line: null, reason: errorMessage(error) };
  return new ViewError({ file, ...found }, error);
}

// JavaScript reports an unclosed bracket only at the end of the file, so Portico checks the
// brackets.

interface Place {
  readonly line: number | null;
  readonly reason: string;
}

const CLOSED_BY: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
/** Brackets in strings and comments are ignored. */
const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|\/\*.*?\*\/|\/\/[^\n]*/gs;

/**
 * Returns a bracket without a counterpart. A bracket in a block with output must close in that
 * block. Any other bracket may close in a later block.
 */
function unbalanced(blocks: readonly Block[]): Place | null {
  let open: { readonly bracket: string; readonly line: number }[] = [];
  for (const { type, code, line } of blocks) {
    const outer = open;
    if (type !== 'e') open = [];
    const bare = code.replaceAll(QUOTED, (quoted) => quoted.replaceAll(/[^\n]/g, ' '));
    for (const { 0: bracket, index } of bare.matchAll(/[()[\]{}]/g)) {
      const here = line + bare.slice(0, index).split('\n').length - 1;
      if (bracket in CLOSED_BY) open.push({ bracket, line: here });
      else {
        const opened = open.pop();
        if (opened === undefined) return { line: here, reason: `'${bracket}' closes nothing` };
        if (CLOSED_BY[opened.bracket] !== bracket)
          return {
            line: here,
            reason: `'${bracket}' closes the '${opened.bracket}' of line ${opened.line}`,
          };
      }
    }
    if (type !== 'e') {
      const [left] = open;
      if (left !== undefined)
        return { line: left.line, reason: `'${left.bracket}' is never closed` };
      open = outer;
    }
  }
  const left = open.at(-1);
  return left === undefined
    ? null
    : { line: left.line, reason: `'${left.bracket}' is never closed` };
}

/** Locates a syntax error in a view: compiles the code that the engine generates from it. */
function syntaxErrorPlace(eta: Eta, text: string): Place | null {
  const code = `(async function (it, options) {\n${eta.compileToString(text, { async: true })}\n})`;
  try {
    compileFunction(code, undefined, { filename: 'view' });
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = Number(/^view:(\d+)/.exec(error.stack ?? '')?.[1] ?? 0);
    const before = code.split('\n').slice(0, at);
    const mark = before.findLastIndex((each) => /^__eta\.line=\d+$/.test(each));
    const begins = Number(before[mark]?.slice('__eta.line='.length) ?? 1);
    return { line: begins + Math.max(0, at - mark - 2), reason: error.message };
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
