// Preloaded by scripts/ways.ts: runs the code of src/ itself, in the place of dist/, and records the file of each function
// that runs.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const root = path.join(import.meta.dirname, '..', '..');
const { exports: published } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly default: { readonly default: string } }>>;
};

let way: string[] | null = null;
Object.assign(globalThis, { portico_enter: (file: string) => way?.push(file) });

/** The files of src/ whose functions run during the work, in order, one entry for each function that begins. */
export async function traced<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly entered: readonly string[] }> {
  const entered: string[] = [];
  way = entered;
  try {
    return { result: await work(), entered };
  } finally {
    way = null;
  }
}

registerHooks({
  resolve(specifier, context, next) {
    const entry = specifier.startsWith('portico/') ? published[specifier.replace('portico', '.')] : undefined;
    if (entry === undefined) return next(specifier, context);
    const file = entry.default.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts');
    return { url: pathToFileURL(path.join(root, file)).href, shortCircuit: true };
  },
  load(url, context, next) {
    const file = url.startsWith('file:') ? path.relative(root, fileURLToPath(url)) : '';
    if (!file.startsWith(`src${path.sep}`) || !file.endsWith('.ts')) return next(url, context);
    const code = stripTypeScriptTypes(readFileSync(path.join(root, file), 'utf8'));
    return {
      format: 'module',
      source: withEntries(code, file.replaceAll(path.sep, '/')),
      shortCircuit: true,
    };
  },
});

/** The code with a call of `portico_enter` at the beginning of every function. */
function withEntries(code: string, file: string): string {
  const call = `portico_enter(${JSON.stringify(file)})`;
  const insertions: { readonly at: number; readonly text: string }[] = [];
  for (const { type, start, end } of functionBodies(parseAst(code))) {
    if (type === 'BlockStatement') insertions.push({ at: start + 1, text: `${call};` });
    else insertions.push({ at: start, text: `(${call},` }, { at: end, text: ')' });
  }
  return insertions
    .toSorted((one, other) => other.at - one.at)
    .reduce((text, { at, text: inserted }) => text.slice(0, at) + inserted + text.slice(at), code);
}

interface Body {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function functionBodies(node: unknown): readonly Body[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(functionBodies);
  const isFunction =
    'type' in node &&
    /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(String(node.type));
  return isFunction && 'body' in node && node.body !== null ? [node.body as Body, ...inner] : inner;
}
