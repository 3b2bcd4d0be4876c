import { readFileSync } from 'node:fs';
import { anchorOf } from '../../scripts/markdown.ts';
import { SEARCH } from '../search.ts';

/** The information that `tools/site/build.ts` collected about the pages. */
const { sidebar } = JSON.parse(
  readFileSync(new URL('../.build/site.json', import.meta.url), 'utf8'),
);

/** The icon. It shows a portico: a roof on three pillars. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="#2c8a73"><path d="M16 3 29 11H3z"/><path d="M5 13h4v12H5zm9 0h4v12h-4zm9 0h4v12h-4zM3 26h26v3H3z"/></g></svg>';

export default {
  title: 'Portico',
  description:
    'Turns the application you already run into an OAuth 2.0 authorization server and OpenID Connect provider.',
  lang: 'en',
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: '.build/pages',
  outDir: '.dist',
  cacheDir: '.build/cache',
  cleanUrls: false,
  ignoreDeadLinks: 'localhostLinks',
  metaChunk: true,
  head: [
    ['meta', { name: 'referrer', content: 'no-referrer' }],
    [
      'link',
      {
        rel: 'icon',
        type: 'image/svg+xml',
        href: `data:image/svg+xml,${encodeURIComponent(ICON)}`,
      },
    ],
  ],
  markdown: {
    // Do not interpret braces in a page.
    attrs: { disable: true },
    // Use the same anchors as in the repository.
    anchor: { slugify: (text: string) => anchorOf(text) },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      {
        text: 'Guide',
        link: '/getting-started',
        activeMatch: '^/(?:getting-started|readme|mounting/)',
      },
      { text: 'Operate', link: '/operating' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'API', link: '/reference/', activeMatch: '^/reference/' },
    ],
    sidebar,
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local', options: { miniSearch: SEARCH } },
    // Only pages that name their source have this link.
    editLink: {
      text: 'Edit this page',
      pattern: ({ frontmatter }: { frontmatter: Record<string, string> }) => frontmatter['source'],
    },
    docFooter: { prev: 'Before', next: 'Next' },
    externalLinkIcon: true,
  },
};
