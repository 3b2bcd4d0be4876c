// @engines sqlite: it only reads files
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, linksOf, pagesOf, problemOf } from '../tools/scripts/markdown.ts';
import {
  findInvented,
  findInventedAddresses,
  readRepository,
  repositoryPart,
} from '../tools/scripts/repository.ts';
import { ROOT } from './support/console.ts';

const PAGES = pagesOf(ROOT);
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

describe('every link in the documentation', () => {
  test.each(PAGES)('points to an existing target: %s', (page) => {
    const wrong = linksOf(page, read(page)).flatMap((link) => {
      const problem = problemOf(ROOT, link);
      return problem === null ? [] : [`${page}:${link.line} ${link.target}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  test('is checked: many links of each kind are found', () => {
    const targets = PAGES.flatMap((page) => linksOf(page, read(page)).map(({ target }) => target));
    const kinds = [/^https:/, /^#/, /\.md$/, /\.md#/, /\.ts$/].map((kind) =>
      targets.filter((each) => kind.test(each)),
    );
    expect(kinds.filter((found) => found.length < 10)).toEqual([]);
  });
});

describe('the check of links', () => {
  const page = 'docs/keys.md';
  const problemWith = (markdown: string) =>
    linksOf(page, markdown).map((link) => [link.line, problemOf(ROOT, link)]);

  test.each([
    ['a missing file', '[x](nowhere.md)', 'there is no docs/nowhere.md'],
    ['a missing anchor', '[x](../README.md#nowhere)', 'README.md has no #nowhere'],
    ['a missing anchor on the same page', '[x](#nowhere)', 'docs/keys.md has no #nowhere'],
    [
      'a path that leads out of the repository',
      '[x](../../elsewhere.md)',
      'leads out of the repository',
    ],
    ['an absolute path', '[x](/docs/keys.md)', 'leads out of the repository'],
    ['a missing picture', '![x](nowhere.svg)', 'there is no docs/nowhere.svg'],
    ['a missing file in HTML', '<img src="nowhere.svg" alt="">', 'there is no docs/nowhere.svg'],
    ['a missing file in a link definition', '[x]: nowhere.md', 'there is no docs/nowhere.md'],
    ['plain http', '[x](http://example.com)', 'is neither https nor mailto'],
    ['credentials', '[x](https://me:secret@example.com)', 'has credentials'],
    ['an invalid URL', '<https://[>', 'is not a URL'],
  ])('finds %s', (_, markdown, problem) => {
    expect(problemWith(`first\n\n${markdown}\n`)).toEqual([[3, problem]]);
  });

  test('ignores links in code or a comment', () => {
    const markdown =
      '`[x](nowhere.md)`\n\n```md\n[x](nowhere.md)\n```\n\n<!-- [x](nowhere.md) -->\n';
    expect(problemWith(markdown)).toEqual([]);
  });

  test('knows the anchors that GitHub generates, and those of HTML', () => {
    const markdown =
      '# `token()`: the host\'s _own_ API\n\n## A & B\n\n## A & B\n\n```sh\n# none\n```\n\n<a id="as-7.4"></a>\n';
    expect([...anchorsOf(markdown)]).toEqual([
      'token-the-hosts-own-api',
      'a--b',
      'a--b-1',
      'as-7.4',
    ]);
  });
});

describe('every documentation page that the code mentions', () => {
  const NAMED = /(?<![\w/.-])docs\/[\w/.-]+\.md(?:#[\w.-]+)?/g;
  const sources = globSync(['src/**/*.{ts,eta}', 'examples/**/*.{ts,eta,yml,yaml}', '.ci/run'], {
    cwd: ROOT,
    exclude: (name) => name === 'node_modules',
  });

  test('exists, with its section', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(NAMED)].map(([target]) => ({ file, target })),
    );
    const wrong = named.flatMap(({ file, target }) => {
      const problem = problemOf(ROOT, { page: 'README.md', line: 1, target });
      return problem === null ? [] : [`${file} names ${target}: ${problem}`];
    });
    expect(wrong).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});

describe('the URL of the repository', () => {
  const OURS = 'https://git.example/us/portico';

  test('is only in package.json: no page, package or workflow has a different URL', () => {
    expect(findInventedAddresses()).toEqual([]);
  });

  test('is copied to each package, and left out if there is none', () => {
    expect(repositoryPart('sql', null)).toEqual({});
    expect(repositoryPart('sql', OURS)).toEqual({
      repository: { type: 'git', url: `git+${OURS}.git`, directory: 'packages/sql' },
    });
    const { repository } = JSON.parse(read('packages/sql/package.json')) as {
      repository?: object;
    };
    expect(repository).toEqual(repositoryPart('sql', readRepository()).repository);
  });

  test.each([
    'https://github.com/portico/portico',
    'https://github.com/someone/portico/blob/main/README.md',
    'https://git.example/others/thing/security/advisories/new',
    'https://git.example/us/portico-too/issues/new',
    'https://www.npmjs.com/package/@portico/kit',
    'https://portico.github.io/docs',
  ])('is required for its links: an invented URL is found: %s', (url) => {
    const sources = [
      { file: 'docs/keys.md', text: `[x](${url})` },
      { file: 'packages/sql/package.json', text: JSON.stringify({ homepage: url }) },
      { file: '.github/workflows/ci.yml', text: `- run: git clone ${url}` },
    ];
    for (const source of sources)
      for (const address of [null, OURS])
        expect(findInvented(source, address)).toEqual([
          `${source.file}: ${url} is not below the repository of package.json`,
        ]);
  });

  test('can be followed by a path', () => {
    const text = `[x](${OURS}/security/advisories/new) [y](${OURS})`;
    expect(findInvented({ file: 'SECURITY.md', text }, OURS)).toEqual([]);
  });
});
