import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Eta } from 'eta';
import type { Views } from './contracts.ts';
import { ViewError } from './errors.ts';
import { linesOfCode, locateErrors } from './view-errors.ts';

const VIEW_NAME = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
const SUFFIX = '.eta';

/**
 * Views from several folders: the first folder that has a file of the name wins, for layouts and partials too, so an
 * application's folder shadows those of the plugins. Output is escaped; templates are compiled once. What is there is read
 * here, so that a process keeps its views whatever becomes of the files, and never shows one that belongs to later code.
 */
export function createViews(directories: readonly string[]): Views {
  const folders = directories.map((directory) => ({ directory, texts: textsIn(directory) }));
  const found = new Map<string, ViewFile>();
  let engine: Promise<Eta> | null = null;

  function find(name: string): ViewFile {
    if (!VIEW_NAME.test(name))
      throw new Error(`The view name '${name}' is not letters, digits, - and _ between slashes`);
    for (const { directory, texts } of folders) {
      const file = path.join(directory, `${name}${SUFFIX}`);
      const text = texts.get(file) ?? textOf(file);
      if (text !== null) return { file, text };
    }
    throw new Error(`There is no view '${name}' in ${directories.join(' or ')}`);
  }

  const started = () =>
    (engine ??= createEngine((name) => {
      const view = found.get(name) ?? find(name);
      found.set(name, view);
      return view;
    }));

  return {
    async render(name, data) {
      const eta = await started();
      return eta.renderAsync(name, data);
    },
    async problems() {
      const eta = await started();
      return folders.flatMap(({ texts }) =>
        [...texts].flatMap(([filepath, text]) => {
          try {
            eta.compile(text, { async: true, filepath });
            return [];
          } catch (error) {
            if (error instanceof ViewError) return [error];
            throw error;
          }
        }),
      );
    },
  };
}

interface ViewFile {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** What can be read in a folder now, by file; the rest, such as what is behind a link, is looked for when it is needed. */
function textsIn(directory: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  try {
    for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(directory, entry);
      if (entry.endsWith(SUFFIX)) texts.set(file, readFileSync(file, 'utf8'));
    }
  } catch {
    // Whoever needs a view that cannot be read is told so then.
  }
  return texts;
}

/** Null when there is no such file. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function createEngine(find: (name: string) => ViewFile): Promise<Eta> {
  const { Eta } = await import('eta');
  // `debug` makes the code keep count of the line it is at.
  const eta = new Eta({
    cache: true,
    autoEscape: true,
    autoTrim: false,
    debug: true,
    plugins: [linesOfCode()],
  });
  locateErrors(eta);
  const texts = new Map<string, string>();
  eta.resolvePath = (name) => {
    const { file, text } = find(name);
    texts.set(file, text);
    return file;
  };
  eta.readFile = (file) => texts.get(file) ?? '';
  return eta;
}
