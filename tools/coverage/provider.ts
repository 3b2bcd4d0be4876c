// Vitest's coverage by V8, for the bundles of `dist` as well. Vitest looks for the source map of a
// file in its own transformation, but Node loads a bundle as it is, with its map beside it.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import v8 from '@vitest/coverage-v8';

interface Sources {
  readonly code: string;
  readonly map?: unknown;
}

type GetSources = (url: string, ...others: readonly unknown[]) => Promise<Sources>;

export default {
  ...v8,
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

async function bundled(url: string): Promise<Sources> {
  const file = fileURLToPath(url);
  const code = await readFile(file, 'utf8');
  if (!existsSync(`${file}.map`)) return { code };
  const map = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { sources: readonly string[] };
  return { code, map: { ...map, sources: map.sources.map((each) => new URL(each, url).href) } };
}
