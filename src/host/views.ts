import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Eta } from 'eta';
import type { Views } from './contracts.ts';

const VIEW_NAME = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;

/**
 * Views from several folders: the first folder that has a file of the name wins, for layouts and partials too, so an
 * application's folder shadows those of the plugins. Output is escaped; templates are compiled once.
 */
export function createViews(directories: readonly string[]): Views {
  const eta = new ShadowingEta(directories);
  return {
    render: async (name, data) => eta.renderAsync(name, data),
  };
}

class ShadowingEta extends Eta {
  constructor(directories: readonly string[]) {
    super({ cache: true, autoEscape: true, autoTrim: false });
    this.resolvePath = (name) => {
      if (!VIEW_NAME.test(name))
        throw new Error(`The view name '${name}' is not letters, digits, - and _ between slashes`);
      const file = directories
        .map((directory) => path.join(directory, `${name}.eta`))
        .find((each) => existsSync(each));
      if (file === undefined) throw new Error(`There is no view '${name}' in ${directories.join(' or ')}`);
      return file;
    };
    this.readFile = (file) => readFileSync(file, 'utf8');
  }
}
