// @engines sqlite: it only reads files
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishedEntries } from '../tools/scripts/public-names.ts';
import { plainFiles } from '../tools/site/llms.ts';
import { missing, readSite, unlisted } from '../tools/site/pages.ts';
import { SHORT_TITLES } from '../tools/site/sidebar.ts';
import { ROOT } from './support/console.ts';

const site = readSite(ROOT, null);
/** The pages of a site with a repository URL. */
const linkedPages = readSite(ROOT, 'https://code.example/blob/main').pages;
const pageAt = (place: string) => site.pages.find((page) => page.place === place)?.markdown ?? '';

/** A Markdown parser from the test tools; the site's own is installed where the site is built. */
interface Token {
  readonly type: string;
  readonly raw: string;
  readonly text?: string;
  readonly lang?: string;
}
interface Marked {
  readonly lexer: (markdown: string) => readonly Token[];
  readonly walkTokens: (tokens: readonly Token[], visit: (token: Token) => void) => void;
}
const { marked } = createRequire(
  path.join(ROOT, 'node_modules/@arethetypeswrong/cli/package.json'),
)('marked') as {
  readonly marked: Marked;
};

/** Returns the empty code blocks, and the fences that a reader would see. */
function brokenBlocks(markdown: string): readonly string[] {
  const found: string[] = [];
  marked.walkTokens(marked.lexer(markdown), ({ type, text = '', lang = '' }) => {
    const fence = /^ *`{3,}.*$/m.exec(text)?.[0].trim();
    if (type === 'code' && text.trim() === '') found.push('an empty code block');
    if (type === 'code' && fence !== undefined && !/^(?:md|markdown)$/.test(lang))
      found.push(`a fence in a code block: ${fence}`);
    if (type === 'text' && fence !== undefined) found.push(`a fence in prose: ${fence}`);
  });
  return found;
}

describe('the documentation site', () => {
  test('lists every page in a topic, and no missing page', () => {
    expect([...unlisted(ROOT), ...missing(ROOT)]).toEqual([]);
  });

  test('has no broken link', () => {
    expect(site.problems).toEqual([]);
  });

  test('has a sidebar that links to each of its pages once', () => {
    const links = Object.values(site.sidebar).map((topics) =>
      topics.flatMap(({ items }) => items ?? []),
    );
    const places = new Set(
      site.pages.map(({ place }) => `/${place.replace(/(?:index)?\.md$/, '')}`),
    );
    for (const each of links) {
      const found = each.map(({ link = '' }) => link);
      expect(found.filter((link) => !places.has(link))).toEqual([]);
      expect(new Set(found).size).toBe(found.length);
    }
    expect(links.flat().length).toBeGreaterThan(80);
  });

  test('has short names only for existing pages', () => {
    const sources = site.pages.map(({ source }) => source);
    expect(Object.keys(SHORT_TITLES).filter((page) => !sources.includes(page))).toEqual([]);
  });

  test('has an API page for each entry point of the package, with all its exports', () => {
    const entries = publishedEntries(ROOT).map(([entry]) => entry);
    const without = entries.filter(
      (entry) => !pageAt(`reference/${path.basename(entry)}.md`).includes(`# ${entry}\n`),
    );
    expect(without).toEqual([]);
    expect(pageAt('reference/fetch.md')).toContain('### createHandler');
    expect(pageAt('reference/resource-server.md')).toContain('- **`clientSecret`**: The client');
  });

  test('contains the pages of every folder of docs/', () => {
    const pages = globSync('docs/**/*.md', { cwd: ROOT });
    const sources = new Set(site.pages.map(({ source }) => source));
    expect(pages.filter((page) => !sources.has(page))).toEqual([]);
  });
});

describe('the plain text of the site for language models', () => {
  const files = plainFiles(site, '/docs/');
  const list = files.get('llms.txt') ?? '';
  const full = files.get('llms-full.txt') ?? '';

  test('lists every page of the sidebar by topic, with a sentence about it', () => {
    expect(list).toMatch(/^# Portico\n\n> Turns .*\n/);
    const items = [...list.matchAll(/^- \[.+\]\(\/docs\/(.+)\): (.+)$/gm)];
    const linked = (site.sidebar['/'] ?? []).flatMap(({ items: pages = [] }) => pages);
    expect(items.length).toBe(linked.length);
    expect(items.filter(([, place = '']) => !files.has(place))).toEqual([]);
    expect(
      items.filter(([, , sentence = '']) => !/[.?]$/.test(sentence)).map(([line]) => line),
    ).toEqual([]);
    expect(
      list.split('\n').filter((line) => line.startsWith('- ') && !/\]\(\/docs\//.test(line)),
    ).toEqual([]);
  });

  test.each([
    ['moving/index.md', /^@portico\/import imports clients from another server /],
    ['examples/key-signer-pkcs11.md', /^signer\.ts is a KeySigner for PKCS#11\.$/],
  ])(
    'describes %s by its first sentence, even if that begins with code or a file',
    (page, sentence) => {
      const item = list.split('\n').find((line) => line.includes(`](/docs/${page}): `));
      expect(item?.split('): ', 2)[1]).toMatch(sentence);
    },
  );

  test('has all guides in one file, without the changelog and the decisions', () => {
    expect(full).toContain('# Getting started');
    expect(full).toContain('# Connecting assistants');
    expect(full).not.toContain('<!-- changelog.md -->');
    expect(full).not.toContain('<!-- decisions/');
    expect(full).not.toMatch(/^\|.* {4}/m);
  });

  test('contains each page as Markdown, next to its HTML', () => {
    expect(files.get('mounting/express.md')).toMatch(/^# Add OAuth to an Express application\n/);
  });
});

describe('the edit link of a page', () => {
  test('is missing without a repository URL', () => {
    expect(site.pages.filter(({ frontmatter }) => frontmatter['editLink'] !== false)).toEqual([]);
  });

  test('leads to the source file of the page, and is missing on generated pages', () => {
    const pages = new Map(linkedPages.map(({ place, frontmatter }) => [place, frontmatter]));
    expect(pages.get('keys.md')).toEqual({ source: 'https://code.example/blob/main/docs/keys.md' });
    expect(pages.get('messages.md')).toEqual({ editLink: false });
    expect(pages.get('reference/portico.md')).toEqual({ editLink: false });
  });
});

describe('a page of the documentation site', () => {
  test('links to pages of the site, and only names other files of the repository', () => {
    expect(pageAt('readme.md')).toContain('](./mounting/express.md)');
    expect(pageAt('architecture.md')).toContain('](./decisions/index.md)');
    expect(pageAt('mounting/nest.md')).toContain(
      '<span class="file" title="examples/nest-express, in the repository">',
    );
    expect(linkedPages.find(({ place }) => place === 'mounting/nest.md')?.markdown).toContain(
      '](https://code.example/blob/main/examples/nest-express)',
    );
  });

  test('omits markers for the tests, and no code', () => {
    const page = pageAt('readme.md');
    expect(page).not.toContain('declare const users');
    expect(page).toContain('const host: Host<Request>');
    expect(
      site.pages.filter(({ markdown }) => /^<!-- (?:ts|of|checked|unchecked)/m.test(markdown)),
    ).toEqual([]);
  });

  test('contains no template syntax outside of code blocks', () => {
    const outside = site.pages.filter(({ markdown }) =>
      markdown.replaceAll(/^```[^]*?^```$/gm, '').includes('{{'),
    );
    expect(outside.map(({ source }) => source)).toEqual([]);
  });

  test('has code blocks that start and end as in the source', () => {
    const broken = site.pages.flatMap(({ source, markdown }) =>
      brokenBlocks(markdown).map((problem) => `${source}: ${problem}`),
    );
    expect(broken).toEqual([]);
  });

  test('with broken code blocks is reported', () => {
    const [block, next] = ['```sh\ntrue\n```\n', '```sh\nfalse\n```\n'];
    expect(brokenBlocks(`1. So:\n\n   ${block}\nOr:\n\n${next}`)).toEqual([
      'an empty code block',
      'a fence in a code block: ```sh',
    ]);
    expect(brokenBlocks('```a`b\ntrue\n')).toEqual(['a fence in prose: ```a`b']);
    expect(brokenBlocks(`1. So:\n\n${block}\n2. On.`)).toEqual([]);
  });
});
