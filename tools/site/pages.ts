import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { headingsOf, linksOf, pagesOf, problemOf, proseOf } from '../scripts/markdown.ts';
import { conformancePage } from '../scripts/conformance.ts';
import { dependenciesPage } from '../scripts/dependencies.ts';
import { messagesPage } from '../scripts/messages.ts';
import { programMessagesPage } from '../scripts/program-messages.ts';
import { referencePages } from './reference.ts';
import { SHORT_TITLES, TOPICS } from './sidebar.ts';

/** The paths on the site of pages that are not in `docs/`. */
const PLACES: Readonly<Record<string, string>> = {
  'tools/site/index.md': 'index.md',
  'README.md': 'readme.md',
  'tools/bench/RESULTS.md': 'benchmarks.md',
  'tools/bench/README.md': 'benchmarks-how.md',
};

/**
 * Pages that the search leaves out. They are too long, too similar to each other, or not for users.
 */
const UNSEARCHED = ['docs/generated/conformance.md', 'CHANGELOG.md', '{docs/,}decisions/*.md'];

/** `README.md` becomes the first page of a folder. For an example, it is the only page. */
function placeOf(page: string): string {
  const known = PLACES[page];
  if (known !== undefined) return known;
  if (page.startsWith('docs/'))
    return page.slice('docs/'.length).replace(/README\.md$/, 'index.md');
  return page.startsWith('examples/') ? page.replace('/README.md', '.md') : page.toLowerCase();
}

/** A page of the site. */
export interface SitePage {
  /**
   * The path in the repository. For a generated page, it is the path that the page would have
   * there.
   */
  readonly source: string;
  readonly place: string;
  readonly title: string;
  readonly markdown: string;
  /** The settings of the page for VitePress. */
  readonly frontmatter: Readonly<Record<string, boolean | string>>;
}

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly SidebarItem[];
}

export interface Site {
  readonly pages: readonly SitePage[];
  readonly sidebar: Readonly<Record<string, readonly SidebarItem[]>>;
  /** The pictures, by their paths in the repository. */
  readonly pictures: readonly string[];
  /** The problems that you must fix before the site can be built. */
  readonly problems: readonly string[];
}

/**
 * Reads every page of the repository, and creates those of the API. `repository` is the address
 * where people can read the repository's files, or null.
 */
export function readSite(root: string, repository: string | null): Site {
  const written = [...pagesOf(root)].map((source) => read(root, source));
  const made = [...referencePages(root), decisionsPage(root)].map(({ path: place, markdown }) =>
    describe(place, place, markdown),
  );
  const all = [...written, ...made, ...generatedPages()];
  const context = {
    root,
    repository,
    places: new Map(all.map(({ source, place }) => [source, place])),
  };
  const pictures = new Set<string>();
  const pages = all.map((page) => ({
    ...page,
    markdown: forSite(page, context, pictures),
    frontmatter: frontmatterOf(page, context),
  }));
  const sidebar = sidebarsOf(all);
  const links = written.flatMap(({ source, markdown }) => linksOf(source, markdown));
  const dead = links.flatMap((link) => {
    const problem = problemOf(root, link);
    return problem === null ? [] : [`${link.page}:${link.line} ${link.target}: ${problem}`];
  });
  return {
    pages,
    sidebar,
    pictures: [...pictures],
    problems: [...dead, ...unlisted(root), ...missing(root)],
  };
}

function read(root: string, source: string): SitePage {
  return describe(source, placeOf(source), readFileSync(path.join(root, source), 'utf8'));
}

function describe(source: string, place: string, markdown: string): SitePage {
  const title = headingsOf(markdown)[0]?.text ?? path.basename(place, '.md');
  return { source, place, title, markdown, frontmatter: {} };
}

/**
 * Returns the pages that commands write to docs/generated. Their links are relative to that folder.
 */
function generatedPages(): readonly SitePage[] {
  const pages = {
    conformance: conformancePage(),
    messages: messagesPage(),
    'program-messages': programMessagesPage(),
    dependencies: dependenciesPage(),
  };
  return Object.entries(pages).map(([name, markdown]) =>
    describe(`docs/generated/${name}.md`, `${name}.md`, markdown),
  );
}

function decisionsPage(root: string) {
  const files = globSync('docs/decisions/*.md', { cwd: root }).toSorted();
  const items = files.map((file) => `- [${read(root, file).title}](${path.basename(file)})`);
  return {
    path: 'decisions/index.md',
    markdown: `# Decisions\n\nEach decision that may surprise you, and its reasons.\n\n${items.join('\n')}\n`,
  };
}

/** Sections of the site that have their own sidebar, because they have many pages. */
const SECTIONS = ['reference', 'decisions'] as const;

/** Returns the heading of a page, without the words that all pages of its folder have in common. */
const shortTitle = ({ source, title }: SitePage) =>
  SHORT_TITLES[source] ??
  title.replace(/^Add OAuth to (?:an? )?(?:application on )?(.*?)(?: application)?$/, '$1');

/** Returns the sidebars by the beginning of the path. The most specific one comes first. */
function sidebarsOf(pages: readonly SitePage[]): Readonly<Record<string, readonly SidebarItem[]>> {
  const item = (page: SitePage): SidebarItem => ({
    text: shortTitle(page),
    link: `/${page.place.replace(/(?:index)?\.md$/, '')}`,
  });
  const sections = SECTIONS.map((section) => {
    const own = pages.filter(({ place }) => place.startsWith(`${section}/`)).toSorted(byPlace);
    return [
      `/${section}/`,
      [
        { text: 'All pages', link: '/' },
        { text: own[0]?.title ?? '', items: own.map(item) },
      ],
    ];
  });
  const main = TOPICS.map(({ title, pages: patterns }) => ({
    text: title,
    items: listedPages(pages, patterns).map(item),
  }));
  return Object.fromEntries([...sections, ['/', main.filter(({ items }) => items.length > 0)]]);
}

const byPlace = (one: SitePage, other: SitePage) =>
  one.place.replace('index.md', '') < other.place.replace('index.md', '') ? -1 : 1;

// --- the sidebar
// ----------------------------------------------------------------------------------------------

/** Returns the pages in the order of the topic. The pages of a folder are sorted by name. */
function listedPages(pages: readonly SitePage[], patterns: readonly string[]): readonly SitePage[] {
  return patterns.flatMap((pattern) => {
    const found = pages.filter(({ source }) => path.matchesGlob(source, pattern));
    // The first page of a folder comes first.
    const by = (page: SitePage) =>
      page.place.endsWith('/index.md') ? '' : shortTitle(page).toLowerCase();
    return found.toSorted((one, other) => (by(one) < by(other) ? -1 : 1));
  });
}

const matches = (page: string, listed: readonly string[]) =>
  listed.some((pattern) => path.matchesGlob(page, pattern));

/** Generated pages, by the names that the topics use. */
const MADE: readonly string[] = ['reference/index.md', 'decisions/index.md', 'docs/generated/*.md'];
const patterns = TOPICS.flatMap(({ pages }) => pages).filter((each) => !matches(each, MADE));
/** Pages that are not in a topic: the landing page, and the pages with their own sidebar. */
const BESIDE: readonly string[] = ['tools/site/index.md', 'docs/decisions/*.md'];

/** Returns the pages of the repository that are in no topic. */
export function unlisted(root: string): readonly string[] {
  return pagesOf(root)
    .filter((page) => !matches(page, [...patterns, ...BESIDE]))
    .map((page) => `${page} is in no topic of tools/site/sidebar.ts`);
}

/** Returns the pages that the topics list but that do not exist in the repository. */
export function missing(root: string): readonly string[] {
  return patterns
    .filter((pattern) => !pagesOf(root).some((page) => matches(page, [pattern])))
    .map((pattern) => `tools/site/sidebar.ts lists ${pattern}, and there is none`);
}

// --- a page, for the site
// -------------------------------------------------------------------------------------

interface Context {
  readonly root: string;
  readonly repository: string | null;
  /** The places of the pages, by their paths in the repository. */
  readonly places: ReadonlyMap<string, string>;
}

/**
 * Returns whether the search includes the page, and where people can edit it. People cannot edit a
 * page that a script writes.
 */
function frontmatterOf(
  { source }: SitePage,
  { root, repository }: Context,
): SitePage['frontmatter'] {
  const isWritten = existsSync(path.join(root, source)) && !source.startsWith('docs/generated/');
  return {
    ...(matches(source, UNSEARCHED) ? { search: false } : {}),
    ...(isWritten && repository !== null
      ? { source: `${repository}/${source}` }
      : { editLink: false }),
  };
}

/**
 * Returns the page for the site. Its links name pages of the site, and VitePress treats none of its
 * text as code.
 */
function forSite(page: SitePage, context: Context, pictures: Set<string>): string {
  return outsideCode(relinked(page, context, pictures), withoutTemplates);
}

/**
 * Removes comments, which are only for the tests, and their indentation, which would indent the
 * code block after them. Escapes `{{`, which would be a template, and `<` at the start of a line,
 * which would be HTML even in code.
 */
const withoutTemplates = (prose: string) =>
  prose
    .replaceAll(/ *<!--[^]*?-->\n*/g, '')
    .replaceAll('{{', '&#123;&#123;')
    .replaceAll(/(?<!`)(`+)(?!`)(?:[^`\n]|\n(?!\n))*?(?<!`)\1(?!`)/g, (code) =>
      code.replaceAll(/\s*\n\s*/g, ' '),
    );

/** Languages of code blocks for which the site has no colors. */
const UNCOLOURED = /^( *`{3,})(?:haproxy|caddy(?:file)?|eta)\b/i;

function outsideCode(markdown: string, change: (prose: string) => string): string {
  const fences = /^ *(`{3,})[^\n]*\n[^]*?^ *\1 *$/gm;
  let [text, from] = ['', 0];
  for (const { index, 0: fence } of markdown.matchAll(fences)) {
    // A comment before a code block can itself contain code blocks. Skip to its end.
    if (index < from) continue;
    text += change(markdown.slice(from, index)) + fence.replace(UNCOLOURED, '$1txt');
    from = index + fence.length;
  }
  return text + change(markdown.slice(from));
}

function relinked(page: SitePage, context: Context, pictures: Set<string>): string {
  const { markdown } = page;
  const prose = proseOf(markdown, false);
  let [text, from] = ['', 0];
  for (const { index, 1: target = '' } of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
    const at = openingBracket(prose, index);
    const isPicture = prose[at - 1] === '!';
    if (/^(?:[a-z][a-z\d+.-]*:|#)/i.test(target) || at < from) continue;
    const label = markdown.slice(at + 1, index);
    text +=
      markdown.slice(from, at) + linkTo(page, target, label, { ...context, isPicture, pictures });
    from = index + target.length + 3;
  }
  return text + markdown.slice(from);
}

function openingBracket(prose: string, closing: number): number {
  let depth = 0;
  for (let at = closing; at >= 0; at -= 1) {
    if (prose[at] === ']') depth += 1;
    if (prose[at] === '[') depth -= 1;
    if (depth === 0) return at;
  }
  return closing;
}

interface Target extends Context {
  readonly isPicture: boolean;
  readonly pictures: Set<string>;
}

function linkTo(page: SitePage, target: string, label: string, context: Target): string {
  const [file = '', anchor] = target.split('#');
  const named = path.posix.join(path.posix.dirname(page.source), file);
  const up = path.posix.relative(path.posix.dirname(page.place), '.') || '.';
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (context.isPicture) {
    context.pictures.add(named);
    return `[${label}](${up}/pictures/${named})`;
  }
  const place = placeIn(context, named);
  if (place !== undefined) return `[${label}](${up}/${place}${hash})`;
  if (context.repository !== null) return `[${label}](${context.repository}/${named}${hash})`;
  return `<span class="file" title="${named}, in the repository">${label}</span>`;
}

/** For a folder, returns its page or its README. */
function placeIn({ root, places }: Context, named: string): string | undefined {
  const found = path.join(root, named);
  if (!existsSync(found) || !statSync(found).isDirectory()) return places.get(named);
  if (named.replace(/\/$/, '') === 'docs/decisions') return 'decisions/index.md';
  return places.get(path.posix.join(named, 'README.md'));
}
