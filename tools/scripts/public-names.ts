// Reads what the packages publish: the names of each entry, where each name is declared, and its
// comment. The test of the public names and the API reference of the site both use it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, type ParseResult } from 'rolldown/utils';
import { PACKAGES } from './packages.ts';

type Statement = ParseResult['program']['body'][number];
type Declaration = NonNullable<
  Extract<Statement, { type: 'ExportNamedDeclaration' }>['declaration']
>;

/**
 * Returns the entries of the packages, each with its declarations. An entry is a name such as
 * `portico/fetch` and the path of a file below `dist`.
 */
export function publishedEntries(
  root: string,
): readonly (readonly [entry: string, file: string])[] {
  return PACKAGES.flatMap(({ folder, name, entries }) =>
    entries.map(({ name: entry, module }) => {
      const file = path.join(root, 'packages', folder, 'dist', `${module}.d.ts`);
      return [entry.replace('.', name), file] as const;
    }),
  );
}

/** A declaration file, as a user's editor reads it. */
export interface Module {
  readonly file: string;
  readonly text: string;
  readonly parsed: ParseResult;
}

const modules = new Map<string, Module>();

/** Reads a declaration file, only once. */
export function moduleOf(file: string): Module {
  let found = modules.get(file);
  if (found === undefined) {
    const text = readFileSync(file, 'utf8');
    found = { file, text, parsed: parseSync(file, text) };
    const [error] = found.parsed.errors;
    if (error !== undefined) throw new Error(`${file} cannot be read: ${error.message}`);
    modules.set(file, found);
  }
  return found;
}

/** An exported name, the file that declares it, and its declaration. */
export interface Named {
  readonly name: string;
  readonly module: Module;
  /** The offset where the comment ends, if there is a comment. */
  readonly start: number;
  readonly declaration: Declaration;
}

/** Returns the exports of a file. They may be declared in other files. */
export function exportsOf(module: Module): readonly Named[] {
  return module.parsed.program.body.flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration')
      return exportsOf(behind(module, statement.source.value));
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, source, specifiers, start } = statement;
    if (declaration !== null) {
      return namesOf(declaration).map((name) => ({ name, module, start, declaration }));
    }
    if (source === null) return [];
    const offered = exportsOf(behind(module, source.value));
    return specifiers.map(({ local, exported }) => {
      const [inside, outside] = [local, exported].map((each) =>
        'name' in each ? each.name : each.value,
      );
      const found = offered.find(({ name }) => name === inside);
      if (found === undefined) throw new Error(`${source.value} declares no ${inside}`);
      return { ...found, name: outside ?? found.name };
    });
  });
}

/**
 * Returns the module that another module imports: a file next to it, or another package of the
 * workspace.
 */
function behind({ file }: Module, source: string): Module {
  for (const { directory, name, entries } of PACKAGES) {
    const entry = entries.find((each) => each.name.replace('.', name) === source);
    if (entry !== undefined) return moduleOf(path.join(directory, 'dist', `${entry.module}.d.ts`));
  }
  return moduleOf(path.resolve(path.dirname(file), source.replace(/\.[jt]s$/, '.d.ts')));
}

function namesOf(declaration: Declaration): readonly string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => ('name' in id ? [id.name] : []));
  return 'id' in declaration && declaration.id !== null && 'name' in declaration.id
    ? [declaration.id.name]
    : [];
}

/** A member of a declaration, and its position in the text of the file. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the parts of a declaration that have their own names. */
export function membersOf(declaration: Declaration): readonly Member[] {
  if (declaration.type === 'TSInterfaceDeclaration') return signaturesOf(declaration.body.body);
  if (
    declaration.type === 'TSTypeAliasDeclaration' &&
    declaration.typeAnnotation.type === 'TSTypeLiteral'
  )
    return signaturesOf(declaration.typeAnnotation.members);
  if (declaration.type !== 'ClassDeclaration') return [];
  return declaration.body.body.flatMap((member) => {
    if (member.type !== 'PropertyDefinition' && member.type !== 'MethodDefinition') return [];
    // The `name` of an error, and a constructor without parameters, need no comment.
    if (member.key.type !== 'Identifier' || member.key.name === 'name') return [];
    if (
      member.type === 'MethodDefinition' &&
      member.kind === 'constructor' &&
      member.value.params.length === 0
    )
      return [];
    return member.accessibility === 'private'
      ? []
      : [{ name: member.key.name, start: member.start, end: member.end }];
  });
}

type Signature = Extract<Declaration, { type: 'TSInterfaceDeclaration' }>['body']['body'][number];

function signaturesOf(signatures: readonly Signature[]): readonly Member[] {
  return signatures.flatMap((signature) => {
    const named =
      signature.type === 'TSPropertySignature' || signature.type === 'TSMethodSignature';
    if (!named || signature.key.type !== 'Identifier') return [];
    return [{ name: signature.key.name, start: signature.start, end: signature.end }];
  });
}

/**
 * Returns the doc comment directly before a declaration, without its stars. Returns null if there
 * is no comment, or if it is too short.
 */
export function commentBefore({ text, parsed }: Module, start: number): string | null {
  const found = parsed.comments.find(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      value.split(/\s+/).length > 2 &&
      end <= start &&
      text.slice(end, start).trim() === '',
  );
  return (
    found?.value
      .slice(1)
      .replaceAll(/^ *\* ?/gm, '')
      .trim() ?? null
  );
}
