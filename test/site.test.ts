// @engines sqlite: it reads the pages
import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishedEntries } from '../scripts/public-names.ts';
import { missing, readSite, unlisted } from '../site/pages.ts';
import { SHORT_TITLES } from '../site/sidebar.ts';
import { ROOT } from './support/console.ts';

const site = readSite(ROOT, null);
const pageAt = (place: string) => site.pages.find((page) => page.place === place)?.markdown ?? '';

describe('the site of the pages', () => {
  test('lists every page in a topic, and no page that there is not', () => {
    expect([...unlisted(ROOT), ...missing(ROOT)]).toEqual([]);
  });

  test('has no dead link', () => {
    expect(site.problems).toEqual([]);
  });

  test('has a sidebar that leads to its pages, each once', () => {
    const links = Object.values(site.sidebar).map((topics) => topics.flatMap(({ items }) => items ?? []));
    const places = new Set(site.pages.map(({ place }) => `/${place.replace(/(?:index)?\.md$/, '')}`));
    for (const each of links) {
      const found = each.map(({ link = '' }) => link);
      expect(found.filter((link) => !places.has(link))).toEqual([]);
      expect(new Set(found).size).toBe(found.length);
    }
    expect(links.flat().length).toBeGreaterThan(80);
  });

  test('has short names for pages that there are', () => {
    const sources = site.pages.map(({ source }) => source);
    expect(Object.keys(SHORT_TITLES).filter((page) => !sources.includes(page))).toEqual([]);
  });

  test('has a page of the API for each entry of the package, with all that it publishes', () => {
    const entries = publishedEntries(ROOT).map(([entry]) => path.basename(entry));
    expect(entries.filter((name) => !pageAt(`reference/${name}.md`).includes(`# portico/${name}`))).toEqual(
      [],
    );
    expect(pageAt('reference/fetch.md')).toContain('### createHandler');
    expect(pageAt('reference/resource-server.md')).toContain('- **`clientSecret`**: The client');
  });

  test('has the pages of every folder of docs/', () => {
    const pages = globSync('docs/**/*.md', { cwd: ROOT });
    const sources = new Set(site.pages.map(({ source }) => source));
    expect(pages.filter((page) => !sources.has(page))).toEqual([]);
  });
});

describe('a page of the site', () => {
  test('links to pages of the site, and names other files of the repository', () => {
    expect(pageAt('readme.md')).toContain('](./host-contract.md#an-api-elsewhere)');
    expect(pageAt('readme.md')).toContain('](./decisions/index.md)');
    expect(pageAt('mounting/nest.md')).toContain(
      '<span class="file" title="test/mounts/nest-express, in the repository">',
    );
    const elsewhere = readSite(ROOT, 'https://code.example/blob/main').pages;
    expect(elsewhere.find(({ place }) => place === 'mounting/nest.md')?.markdown).toContain(
      '](https://code.example/blob/main/test/mounts/nest-express)',
    );
  });

  test('leaves out what is for the tests, and nothing of the code', () => {
    const page = pageAt('readme.md');
    expect(page).not.toContain('declare const users');
    expect(page).toContain('const people: AccountProvider');
    expect(site.pages.filter(({ markdown }) => /^<!-- (?:ts|of|checked|unchecked)/m.test(markdown))).toEqual(
      [],
    );
  });

  test('is no template: braces of a page are braces', () => {
    const outside = site.pages.filter(({ markdown }) =>
      markdown.replaceAll(/^```[^]*?^```$/gm, '').includes('{{'),
    );
    expect(outside.map(({ source }) => source)).toEqual([]);
  });
});
