// Reads the links of the pages in this repository, and the targets that links can have. The tests
// and the site use the same functions.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** A link in a page, as written there. */
export interface Link {
  /** The path of the page, from the root of the repository. */
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

/** Returns every page for readers, as paths from the root of the repository. */
export function pagesOf(root: string): readonly string[] {
  return globSync(
    ['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/*.md', 'tools/{bench,site}/*.md'],
    {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name === 'generated',
    },
  ).toSorted();
}

const FENCE = /^ *(`{3,}|~{3,})[^\n]*\n[^]*?^ *\1 *$/gm;
const COMMENT = /<!--[^]*?-->/g;
const CODE = /(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g;

/**
 * Replaces everything except prose by spaces: code blocks, comments and, unless `withCode`, code in
 * a line. The text keeps its length and its lines.
 */
export function proseOf(markdown: string, withCode: boolean): string {
  const blank = (match: string) => match.replaceAll(/[^\n]/g, ' ');
  const prose = markdown.replaceAll(FENCE, blank).replaceAll(COMMENT, blank);
  return withCode ? prose : prose.replaceAll(CODE, blank);
}

const TARGETS = [
  /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g,
  /^ *\[[^\]]+\]:\s+(\S+)/g,
  /<(https?:[^>\s]+)>/g,
  /\b(?:href|src)="([^"]+)"/g,
] as const;

/** Returns the links of a page, including pictures, in their order. */
export function linksOf(page: string, markdown: string): readonly Link[] {
  const lines = proseOf(markdown, false).split('\n');
  return lines.flatMap((text, at) =>
    TARGETS.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(([, target = '']) => ({ page, line: at + 1, target })),
    ),
  );
}

/**
 * Returns the anchor of a heading, as GitHub creates it. `seen` counts the anchors before it in the
 * page.
 */
export function anchorOf(heading: string, seen: Map<string, number> = new Map()): string {
  const anchor = heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
  const count = seen.get(anchor) ?? 0;
  seen.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

export interface Heading {
  readonly level: number;
  /** The text as people read it, without markup. */
  readonly text: string;
  readonly anchor: string;
}

/** Returns the headings of a page (`## So`), in their order. */
export function headingsOf(markdown: string): readonly Heading[] {
  const seen = new Map<string, number>();
  return [...proseOf(markdown, true).matchAll(/^(#{1,6}) +(.+?)(?: +#+)? *$/gm)].map(
    ([, marks = '', markup = '']) => {
      const text = markup
        .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll(/`|\*\*|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)/g, '');
      return { level: marks.length, text, anchor: anchorOf(text, seen) };
    },
  );
}

/** Returns the anchors that a link to the page may have after `#`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const named = [...proseOf(markdown, false).matchAll(/\b(?:id|name)="([^"]+)"/g)].map(
    ([, id = '']) => id,
  );
  return new Set([...headingsOf(markdown).map(({ anchor }) => anchor), ...named]);
}

const isElsewhere = (target: string) => /^[a-z][a-z\d+.-]*:/i.test(target);

const anchorsByFile = new Map<string, ReadonlySet<string>>();

/** Returns what is wrong with a link, or null. It does not use the network. */
export function problemOf(root: string, { page, target }: Link): string | null {
  if (isElsewhere(target)) return problemOfUrl(target);
  const [file = '', anchor] = target.split('#');
  const at = file === '' ? page : path.join(path.dirname(page), decodeURIComponent(file));
  if (path.isAbsolute(file) || at.startsWith('..')) return 'leads out of the repository';
  const found = path.join(root, at);
  if (!existsSync(found)) return `there is no ${at}`;
  if (anchor === undefined) return null;
  if (!at.endsWith('.md') || statSync(found).isDirectory()) return `${at} has no anchors`;
  let anchors = anchorsByFile.get(found);
  if (anchors === undefined)
    anchorsByFile.set(found, (anchors = anchorsOf(readFileSync(found, 'utf8'))));
  return anchors.has(anchor) ? null : `${at} has no #${anchor}`;
}

/** Checks only the form of a link to another site: https, or http to this machine. */
function problemOfUrl(target: string): string | null {
  if (!URL.canParse(target)) return 'is not a URL';
  const { protocol, hostname, username } = new URL(target);
  if (username !== '') return 'has credentials';
  if (protocol === 'https:' || protocol === 'mailto:') return null;
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
    ? null
    : 'is neither https nor mailto';
}
