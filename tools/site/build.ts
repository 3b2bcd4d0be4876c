/**
 * `npm run docs:site` builds the site from the pages of this repository, into `tools/site/.dist`.
 * It needs `dist`, because the API reference is made from it, and does not use the network.
 * SITE_BASE is the path of the site (`/portico/`). SITE_REPOSITORY is the address of the
 * repository's files (`https://…/blob/main`). The default is the `repository` of package.json. If
 * package.json has no address, the site names these files without links.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openApiText } from '../scripts/openapi.ts';
import { readRepository } from '../scripts/repository.ts';
import { plainFiles } from './llms.ts';
import { readSite } from './pages.ts';

const here = import.meta.dirname;
const root = path.join(here, '..', '..');
const pages = path.join(here, '.build', 'pages');

const site = readSite(root, process.env['SITE_REPOSITORY'] ?? filesAddress());
for (const problem of site.problems) process.stderr.write(`${problem}\n`);
if (site.problems.length > 0) process.exit(1);

rmSync(path.join(here, '.build'), { recursive: true, force: true });
for (const { place, markdown, frontmatter } of site.pages)
  write(
    path.join(pages, place),
    markdown.startsWith('---') ? markdown : withFrontmatter(frontmatter, markdown),
  );
for (const picture of site.pictures)
  cpSync(path.join(root, picture), path.join(pages, 'pictures', picture));
writeFileSync(path.join(here, '.build', 'site.json'), JSON.stringify({ sidebar: site.sidebar }));

const vitepress = path.join(here, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
const { status } = spawnSync(process.execPath, [vitepress, 'build', here], { stdio: 'inherit' });
if (status === 0) {
  for (const [file, text] of plainFiles(site, process.env['SITE_BASE'] ?? '/'))
    write(path.join(here, '.dist', file), text);
  write(path.join(here, '.dist', 'openapi.json'), await openApiText());
}
process.exitCode = status ?? 1;

/** Returns the address of the repository's files, or null if package.json names no repository. */
function filesAddress(): string | null {
  const address = readRepository(root);
  return address === null ? null : `${address}/blob/main`;
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** JSON is also valid YAML. */
function withFrontmatter(frontmatter: object, markdown: string): string {
  return `---\n${JSON.stringify(frontmatter)}\n---\n\n${markdown}`;
}
