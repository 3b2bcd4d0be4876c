import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Eta } from 'eta';
import type { Views } from './contracts.ts';

const VIEW_NAME = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;

/**
 * Views from several folders: the first folder that has a file of the name wins, for layouts and partials too, so an
 * application's folder shadows those of the plugins. Output is escaped; templates are compiled once.
 */
export function createViews(directories: readonly string[]): Views {
  let engine: Promise<Eta> | null = null;
  return {
    async render(name, data) {
      const eta = await (engine ??= shadowingEta(directories));
      return eta.renderAsync(name, data);
    },
  };
}

async function shadowingEta(directories: readonly string[]): Promise<Eta> {
  const { Eta } = await import('eta');
  const eta = new Eta({ cache: true, autoEscape: true, autoTrim: false });
  eta.resolvePath = (name) => {
    if (!VIEW_NAME.test(name))
      throw new Error(`The view name '${name}' is not letters, digits, - and _ between slashes`);
    const file = directories
      .map((directory) => path.join(directory, `${name}.eta`))
      .find((each) => existsSync(each));
    if (file === undefined) throw new Error(`There is no view '${name}' in ${directories.join(' or ')}`);
    return file;
  };
  eta.readFile = (file) => readFileSync(file, 'utf8');
  return eta;
}
