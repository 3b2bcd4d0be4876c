import { proseOf } from '../scripts/markdown.ts';
import type { Site, SitePage } from './pages.ts';

/** A one-sentence description of the project, for both files. */
const SUMMARY =
  'Turns the TypeScript application you already run into an OAuth 2.0 authorization server, an OpenID Connect provider and an MCP endpoint, on its own accounts, login and permissions.';

/** Topics that do not help readers to use Portico. */
const LEFT_OUT: readonly string[] = ['Reference', 'The project'];

/**
 * Returns the pages as files for language models (https://llmstxt.org), by their paths on the site.
 */
export function plainFiles(site: Site, base: string): ReadonlyMap<string, string> {
  return new Map([
    ...site.pages
      .filter(({ place }) => place !== 'index.md')
      .map(({ place, markdown }) => [place, markdown] as const),
    ['llms.txt', listOf(site, base)],
    ['llms-full.txt', fullText(site)],
  ]);
}

/** Lists the pages by topic, each with its first sentence. */
function listOf(site: Site, base: string): string {
  const [others, guides] = [true, false].map((isLeftOut) =>
    topicsOf(site).filter(({ title }) => LEFT_OUT.includes(title) === isLeftOut),
  );
  const optional = { title: 'Optional', pages: others?.flatMap(({ pages }) => pages) ?? [] };
  const topics = [...(guides ?? []), optional].map(({ title, pages }) => {
    const items = pages.map(
      (page) => `- [${page.title}](${base}${page.place}): ${firstSentence(page)}`,
    );
    return `## ${title}\n\n${items.join('\n')}`;
  });
  const whole = `All guides in one file: [llms-full.txt](${base}llms-full.txt).`;
  return `${[`# Portico`, `> ${SUMMARY}`, whole, ...topics].join('\n\n')}\n`;
}

/** Returns the guides one after another. Before each guide, a comment contains its address. */
function fullText(site: Site): string {
  const guides = topicsOf(site)
    .filter(({ title }) => !LEFT_OUT.includes(title))
    .flatMap(({ pages }) => pages);
  const texts = guides.map(
    ({ place, markdown }) => `<!-- ${place} -->\n\n${withoutPadding(markdown.trim())}`,
  );
  return `${[`# Portico`, `> ${SUMMARY}`, ...texts].join('\n\n')}\n`;
}

interface TopicPages {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

/** Returns the topics, as in the sidebar. */
function topicsOf({ pages, sidebar }: Site): readonly TopicPages[] {
  const byLink = new Map(
    pages.map((page) => [`/${page.place.replace(/(?:index)?\.md$/, '')}`, page]),
  );
  return (sidebar['/'] ?? []).map(({ text, items = [] }) => ({
    title: text,
    pages: items.flatMap(({ link = '' }) => byLink.get(link) ?? []),
  }));
}

/**
 * Returns the first sentence below the heading of a page, as text. If the page does not begin with
 * a sentence, returns its title.
 */
function firstSentence({ markdown, title }: SitePage): string {
  const prose = proseOf(markdown.replaceAll(/(?<!`)`(?!`)/g, ''), false).replaceAll(/^#.*$/gm, '');
  const paragraphs = prose.split(/\n\s*\n/).map((part) => part.trim());
  const first = paragraphs.find((part) => /^(?:[\p{L}@[*]|<span)/u.test(part)) ?? `${title}.`;
  const text = first
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]+>|\*\*/g, '')
    .replaceAll(/\s+/g, ' ');
  return /^.*?[.?](?= |$)/.exec(text)?.[0] ?? text.replace(/:$/, '.');
}

/** Removes the padding of tables. It is only for people. */
const withoutPadding = (markdown: string) =>
  markdown.replaceAll(/^\|.*\|$/gm, (row) =>
    row.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---'),
  );
