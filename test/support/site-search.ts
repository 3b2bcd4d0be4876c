import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SEARCH } from '../../tools/site/search.ts';

interface Index {
  search(question: string): readonly { readonly id: string }[];
}

/** Searches the built site as the browser does. Returns addresses, with the best result first. */
export async function searchOfSite(
  folder: string,
): Promise<(question: string) => readonly string[]> {
  const [chunk = ''] = globSync('.dist/assets/chunks/@localSearchIndexroot.*.js', { cwd: folder });
  const { default: json } = (await import(pathToFileURL(path.join(folder, chunk)).href)) as {
    readonly default: string;
  };
  const load = createRequire(path.join(folder, 'package.json'));
  const MiniSearch = load('minisearch') as { loadJSON(json: string, options: object): Index };
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    ...SEARCH.options,
    searchOptions: SEARCH.searchOptions,
  });
  return (question) => index.search(question).map(({ id }) => id);
}
