import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Eta } from 'eta';
import { hasCode } from '@portico/sql';
import { ENGLISH_WORDS } from './words.ts';
import { EMBEDDED_VIEWS } from './embedded-views.ts';
import { linesOfCode, locateErrors, ViewError, type ViewProblem } from './view-errors.ts';

/** An application's pages, as Eta templates. */
export interface Views {
  /**
   * Renders a view by name, for example `oauth/consent`. The application's own file has priority.
   * `t` and `markup` default to English.
   *
   * Rejects with a ViewError with the file and line if the view cannot be compiled or rendered.
   * Rejects with another Error if there is no such view.
   */
  render(name: string, data: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns the views in all folders that cannot be compiled, with their problems. */
  problems(): Promise<readonly ViewProblem[]>;
}

const VIEW_NAME = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
const SUFFIX = '.eta';

/**
 * The built-in views of the published package. The key replaces the path of a views folder, also in
 * error messages.
 */
const embedded = new Map<string, Readonly<Record<string, string>>>();

/**
 * Returns the folder of a package's built-in views: `folder` in the source code. In the published
 * package, the views are part of the code, and the result is `name`.
 */
export function builtInFolder(
  name: string,
  folder: () => string,
  views: Readonly<Record<string, string>>,
): string {
  if (Object.keys(views).length === 0) return folder();
  embedded.set(name, views);
  return name;
}

/** Options for `createViews`. */
export interface ViewsOptions {
  /**
   * Set it to true during development: the files are read again for every page, so changes are
   * visible immediately. Defaults to false.
   */
  readonly reloads?: boolean;
  /** Data for every view, in addition to the view's own data. Defaults to no data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The folder of this package's views. Other packages share its layout. */
export const BUILT_IN_VIEWS = builtInFolder(
  'portico:views',
  () => path.join(import.meta.dirname, 'views'),
  EMBEDDED_VIEWS,
);

/**
 * Returns the views from several folders. Of several files with the same name, the first folder's
 * file counts. This includes layouts and partials, so an application's folder overrides the
 * plugins' folders.
 *
 * The output is escaped. Templates are compiled once. All files are read at the start. If a
 * deployment replaces them, this process keeps the views of its release (decision 22).
 *
 * @example
 * const html = await createViews([path.resolve('views')]).render('orders', { orders });
 */
export function createViews(
  given: readonly string[],
  { reloads = false, data: everywhere = {} }: ViewsOptions = {},
): Views {
  // In the published package, all built-in views have the same folder, so remove duplicates.
  const directories = [...new Set(given)];
  const read = () => directories.map((directory) => ({ directory, texts: readTexts(directory) }));
  const folders = read();
  const found = new Map<string, ViewFile>();
  let engine: Promise<Eta> | null = null;

  function find(name: string): ViewFile {
    if (!VIEW_NAME.test(name))
      throw new Error(
        `The view name '${name}' must have only letters, digits, - and _ between slashes`,
      );
    for (const { directory, texts } of folders) {
      const file = path.join(directory, `${name}${SUFFIX}`);
      const text = (reloads && !embedded.has(directory) ? null : texts.get(file)) ?? readText(file);
      if (text !== null) return { file, text };
    }
    throw new Error(`There is no view '${name}' in ${directories.join(' or ')}`);
  }

  const started = () =>
    (engine ??= createEngine((name) => {
      const view = (reloads ? undefined : found.get(name)) ?? find(name);
      found.set(name, view);
      return view;
    }));

  return {
    async render(name, data) {
      const eta = await started();
      return eta.renderAsync(name, { ...ENGLISH_WORDS, ...everywhere, ...data });
    },
    async problems() {
      const eta = await started();
      return (reloads ? read() : folders).flatMap(({ texts }) =>
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
  /**
   * The absolute path. For a built-in view of the published package, a path such as
   * `portico:views/oauth/consent.eta`.
   */
  readonly file: string;
  readonly text: string;
}

/**
 * Returns the views in a folder, by file. Files that are added later are read when they are needed.
 */
function readTexts(directory: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const builtIn = embedded.get(directory);
  if (builtIn !== undefined) {
    for (const [name, text] of Object.entries(builtIn))
      texts.set(path.join(directory, `${name}${SUFFIX}`), text);
    return texts;
  }
  try {
    for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(directory, entry);
      if (entry.endsWith(SUFFIX)) texts.set(file, readFileSync(file, 'utf8'));
    }
  } catch {
    // Rendering reports a view that cannot be read.
  }
  return texts;
}

/** Returns null if the file does not exist. */
function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function createEngine(find: (name: string) => ViewFile): Promise<Eta> {
  const { Eta } = await import('eta');
  // With `debug`, the compiled code records which line it runs.
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
    // Compile again if the text has changed.
    if (texts.has(file) && texts.get(file) !== text) eta.templatesAsync.remove(file);
    texts.set(file, text);
    return file;
  };
  eta.readFile = (file) => texts.get(file) ?? '';
  return eta;
}
