import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pagesOf } from '../../tools/scripts/markdown.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

/**
 * A code block of a page, and how it is checked:
 *
 * - Its file is named by the fence (`ts server.ts`) or by a comment in its first line (`//
 *   server.ts`). The blocks of a page are in one folder, so that one may import another.
 * - Code that a reader does not need is in a comment before the fence, `<!-- ts … -->`. The block
 *   replaces the line `…` in it, or follows it.
 * - A block of a file that another test compiles and runs says so in that comment: `<!-- of
 *   examples/… -->`.
 * - A block that a test takes from the page says so: `<!-- checked by test/….test.ts -->`. That
 *   test names the page.
 * - A block that cannot be checked here says why: `<!-- unchecked: it is Prisma's -->`.
 */
export interface CodeBlock {
  /** From the root of the repository. */
  readonly page: string;
  /** The line of the fence. */
  readonly line: number;
  /** The words after the backticks. */
  readonly info: readonly string[];
  readonly code: string;
  readonly file: string;
  /** The code, with the hidden parts of the page. */
  readonly whole: string;
  /** The file, from the root, that the block is a part of. */
  readonly partOf: string | null;
  /** The test, from the root, that takes the block from the page. */
  readonly checkedBy: string | null;
  /** Why nothing checks it. */
  readonly unchecked: string | null;
}

const BLOCK = /(?:<!--((?:(?!-->)[^])*)-->\s*)?^```([^\n]*)\n([^]*?)^```$/gm;

/** The pages for readers, and their code blocks. */
export function codeBlocks(): readonly CodeBlock[] {
  return pagesOf(ROOT).flatMap((page) =>
    blocksOf(page, readFileSync(path.join(ROOT, page), 'utf8')),
  );
}

/** The code blocks of one page. */
export function blocksOf(page: string, text: string): readonly CodeBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => {
    const [before, hidden = '', fence = '', code = ''] = match;
    const line = text.slice(0, match.index + before.indexOf('```')).split('\n').length;
    const [language = '', named] = fence.split(' ');
    const commented = /^\/\/ ([\w./[\]-]+\.\w+)\n/.exec(code)?.[1];
    const file =
      [named, commented].find((each) => each?.includes('.')) ?? `line-${line}.${language}`;
    const marked = (pattern: RegExp) => pattern.exec(hidden.trim())?.[1] ?? null;
    const marks = {
      partOf: marked(/^of (\S+)$/),
      checkedBy: marked(/^checked by (\S+)$/),
      unchecked: marked(/^unchecked: (\S[^]*)$/),
    };
    return {
      page,
      line,
      info: fence.split(' '),
      code,
      file,
      whole: withHidden(hidden, code),
      ...marks,
    };
  });
}

function withHidden(hidden: string, code: string): string {
  const around = /^\s*tsx?\n([^]*)$/.exec(hidden)?.[1];
  if (around === undefined) return code;
  const [before = '', after = ''] = around.split(/^\s*…\s*$/m);
  return `${before}\n${code}\n${after}`;
}
