import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pagesOf } from '../../tools/scripts/markdown.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

/**
 * A code block of a page, and how it is checked:
 *
 * - The fence (`ts server.ts`) or a comment in the first line (`// server.ts`) names its file. All
 *   blocks of a page are in one folder, so that they can import each other.
 * - A comment before the fence (`<!-- ts … -->`) contains code that readers do not need. The block
 *   replaces the line `…` in this code, or follows the code.
 * - `<!-- of examples/… -->` means that the block is a part of this file. Another test compiles and
 *   runs the file.
 * - `<!-- checked by test/….test.ts -->` means that this test reads the block from the page. The
 *   test names the page.
 * - `<!-- unchecked: it is Prisma's -->` says why the block cannot be checked here.
 */
export interface CodeBlock {
  /** The path of the page, from the root of the repository. */
  readonly page: string;
  /** The line of the fence. */
  readonly line: number;
  /** The words after the backticks of the fence. */
  readonly info: readonly string[];
  readonly code: string;
  readonly file: string;
  /** The code, together with the hidden parts of the page. */
  readonly whole: string;
  /** The file that contains the block, as a path from the root, or null. */
  readonly partOf: string | null;
  /** The test that reads the block from the page, as a path from the root, or null. */
  readonly checkedBy: string | null;
  /** Why the block is not checked, or null. */
  readonly unchecked: string | null;
}

const BLOCK = /(?:<!--((?:(?!-->)[^])*)-->\s*)?^```([^\n]*)\n([^]*?)^```$/gm;

/** Returns the code blocks of all pages for readers. */
export function codeBlocks(): readonly CodeBlock[] {
  return pagesOf(ROOT).flatMap((page) =>
    blocksOf(page, readFileSync(path.join(ROOT, page), 'utf8')),
  );
}

/** Returns the code blocks of one page. */
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
