// The address of the repository. It is only in the root's package.json, under `repository`. The
// build copies it to the packages, the site links its files, and a check finds other addresses.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGES, ROOT } from './packages.ts';
import { linksOf, pagesOf } from './markdown.ts';

/** A `repository` of package.json, in the form that npm writes. */
interface Repository {
  readonly type: 'git';
  /** `git+https://<host>/<owner>/<name>.git` */
  readonly url: string;
}

/**
 * Returns the address of the repository's page, such as `https://<host>/<owner>/<name>`, or null if
 * package.json names none. Throws an Error if the address has another form.
 */
export function readRepository(root: string = ROOT): string | null {
  const { repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    repository?: Repository;
  };
  if (repository === undefined) return null;
  const [, address] = /^git\+(https:\/\/[^/]+\/[^/]+\/[^/]+)\.git$/.exec(repository.url) ?? [];
  if (address === undefined)
    throw new Error('package.json: repository.url must be git+https://<host>/<owner>/<name>.git');
  return address;
}

/** Returns the member `repository` for the package.json of a package. Empty without an address. */
export function repositoryPart(folder: string, address: string | null) {
  if (address === null) return {};
  const url = `git+${address}.git`;
  return { repository: { type: 'git', url, directory: `packages/${folder}` } };
}

/** A text with addresses: a page, a package.json or a workflow. */
interface Source {
  readonly file: string;
  readonly text: string;
}

/** Pages that exist only for our own repository or our own packages. */
const OWN: readonly RegExp[] = [
  /\/(?:security\/(?:advisories|policy)|issues\/new|releases|compare|discussions)(?:\/|$)/,
  /^https:\/\/(?:[\w-]+\.)?(?:github\.com|gitlab\.com|codeberg\.org)\/[^/]+\/(?:create-)?portico(?:[/.#?]|$)/i,
  /^https:\/\/(?:www\.)?npmjs\.com\/package\/(?:@portico\/|(?:create-)?portico(?:[/#?]|$))/,
  /^https:\/\/[^/]+\.(?:github|gitlab)\.io(?:\/|$)/,
  /\/(?:<?(?:owner|org|your-\w+)>?)\//i,
];

/** Returns addresses that claim to be ours but are not below the configured address. */
export function findInvented({ file, text }: Source, address: string | null): readonly string[] {
  const urls = file.endsWith('.md')
    ? linksOf(file, text).map(({ target }) => target)
    : [...text.matchAll(/https:\/\/[^\s"'`)]+/g)].map(([url]) => url);
  return urls
    .filter((url) => url.startsWith('https:') && OWN.some((pattern) => pattern.test(url)))
    .filter((url) => address === null || (url !== address && !url.startsWith(`${address}/`)))
    .map((url) => `${file}: ${url} is not below the repository of package.json`);
}

/** Returns what is wrong with the addresses of all pages, packages and workflows. */
export function findInventedAddresses(root: string = ROOT): readonly string[] {
  const address = readRepository(root);
  const files = [
    ...pagesOf(root),
    ...PACKAGES.map(({ folder }) => `packages/${folder}/package.json`),
    ...globSync('.github/**/*.{yml,md}', { cwd: root }),
  ];
  return files.flatMap((file) =>
    findInvented({ file, text: readFileSync(path.join(root, file), 'utf8') }, address),
  );
}
