// Vitest's coverage by V8, for the bundles of `dist` as well. Vitest looks for the source map of a
// file in its own transformation, but Node loads a bundle as it is, with its map beside it.
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from '@vitest/coverage-v8';

interface Sources {
  readonly code: string;
  readonly map?: unknown;
}

type GetSources = (url: string, ...others: readonly unknown[]) => Promise<Sources>;

type Options = Parameters<NonNullable<typeof v8.takeCoverage>>[0];

// Each call uses the one object that contains the session, because a worker may load this file
// again.
export default {
  startCoverage: (options: Parameters<NonNullable<typeof v8.startCoverage>>[0]) =>
    v8.startCoverage?.(options),
  async takeCoverage(options: Options) {
    const folder: unknown = Reflect.get(v8, 'extendedContextCoverageDir');
    if (typeof folder === 'string') await removeBroken(folder);
    return v8.takeCoverage?.(options);
  },
  stopCoverage: (options: Parameters<NonNullable<typeof v8.stopCoverage>>[0]) =>
    v8.stopCoverage?.(options),

  async getProvider() {
    const { V8CoverageProvider } = await import('@vitest/coverage-v8/dist/provider.js');
    const provider = new V8CoverageProvider();
    // The types leave this method out.
    const original = Reflect.get(provider, 'getSources') as GetSources;
    const getSources: GetSources = async (url, ...others) =>
      url.includes('/dist/') ? bundled(url) : original.call(provider, url, ...others);
    Reflect.set(provider, 'getSources', getSources);
    return provider;
  },
};

/**
 * Removes incomplete results. A process cannot finish its result if a test kills it or limits the
 * size of its files. A single incomplete result would make Vitest lose all results of the test
 * file.
 */
async function removeBroken(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.json'))) {
    const file = path.join(folder, name);
    try {
      JSON.parse(await readFile(file, 'utf8'));
    } catch {
      await rm(file);
    }
  }
}

async function bundled(url: string): Promise<Sources> {
  const file = fileURLToPath(url);
  const code = await readFile(file, 'utf8');
  if (!existsSync(`${file}.map`)) return { code };
  const map = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { sources: readonly string[] };
  return { code, map: { ...map, sources: map.sources.map((each) => new URL(each, url).href) } };
}
