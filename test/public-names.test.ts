// @engines sqlite: it reads what is published
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, type ParseResult } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';

type Statement = ParseResult['program']['body'][number];
type Declaration = NonNullable<Extract<Statement, { type: 'ExportNamedDeclaration' }>['declaration']>;

const root = path.join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly default: { readonly types: string } }>>;
};
const ENTRIES = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string'
    ? []
    : [[entry.replace('.', 'portico'), path.join(root, target.default.types)] as const],
);

/** A declaration file, as an editor of a user of the package reads it. */
interface Module {
  readonly file: string;
  readonly text: string;
  readonly parsed: ParseResult;
}

const modules = new Map<string, Module>();

function moduleOf(file: string): Module {
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

/** An exported name, where it is declared, and its declaration. */
interface Named {
  readonly name: string;
  readonly module: Module;
  /** Where the comment ends, if there is one. */
  readonly start: number;
  readonly declaration: Declaration;
}

/** What a file exports, whichever file it is declared in. */
function exportsOf(module: Module): readonly Named[] {
  return module.parsed.program.body.flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration') return exportsOf(behind(module, statement.source.value));
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, source, specifiers, start } = statement;
    if (declaration !== null) {
      return namesOf(declaration).map((name) => ({ name, module, start, declaration }));
    }
    if (source === null) return [];
    const offered = exportsOf(behind(module, source.value));
    return specifiers.map(({ local, exported }) => {
      const [inside, outside] = [local, exported].map((each) => ('name' in each ? each.name : each.value));
      const found = offered.find(({ name }) => name === inside);
      if (found === undefined) throw new Error(`${source.value} declares no ${inside}`);
      return { ...found, name: outside ?? found.name };
    });
  });
}

function behind({ file }: Module, source: string): Module {
  return moduleOf(path.resolve(path.dirname(file), source.replace(/\.[jt]s$/, '.d.ts')));
}

function namesOf(declaration: Declaration): readonly string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => ('name' in id ? [id.name] : []));
  return 'id' in declaration && declaration.id !== null && 'name' in declaration.id
    ? [declaration.id.name]
    : [];
}

/** The parts of a declaration that have names of their own. */
function membersOf(declaration: Declaration): readonly { readonly name: string; readonly start: number }[] {
  if (declaration.type === 'TSInterfaceDeclaration') return signaturesOf(declaration.body.body);
  if (declaration.type === 'TSTypeAliasDeclaration' && declaration.typeAnnotation.type === 'TSTypeLiteral')
    return signaturesOf(declaration.typeAnnotation.members);
  if (declaration.type !== 'ClassDeclaration') return [];
  return declaration.body.body.flatMap((member) => {
    if (member.type !== 'PropertyDefinition' && member.type !== 'MethodDefinition') return [];
    // `name` of an error and a constructor without parameters need no comment.
    if (member.key.type !== 'Identifier' || member.key.name === 'name') return [];
    if (
      member.type === 'MethodDefinition' &&
      member.kind === 'constructor' &&
      member.value.params.length === 0
    )
      return [];
    return member.accessibility === 'private' ? [] : [{ name: member.key.name, start: member.start }];
  });
}

type Signature = Extract<Declaration, { type: 'TSInterfaceDeclaration' }>['body']['body'][number];

function signaturesOf(signatures: readonly Signature[]) {
  return signatures.flatMap((signature) => {
    const named = signature.type === 'TSPropertySignature' || signature.type === 'TSMethodSignature';
    if (!named || signature.key.type !== 'Identifier') return [];
    return [{ name: signature.key.name, start: signature.start }];
  });
}

/** Whether a doc comment stands right before the declaration. */
function isDescribed({ text, parsed }: Module, start: number): boolean {
  return parsed.comments.some(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      value.split(/\s+/).length > 2 &&
      end <= start &&
      text.slice(end, start).trim() === '',
  );
}

describe('every public name has a doc comment', () => {
  // @shows HOST-5.1
  test.each(ENTRIES)('%s', (_, file) => {
    const offered = exportsOf(moduleOf(file));
    expect(offered.length).toBeGreaterThan(0);
    const bare = offered.flatMap(({ name, module, start, declaration }) => [
      ...(isDescribed(module, start) ? [] : [name]),
      ...membersOf(declaration)
        .filter((member) => !isDescribed(module, member.start))
        .map((member) => `${name}.${member.name}`),
    ]);
    const files = new Map(offered.map(({ name, module }) => [name, path.relative(root, module.file)]));
    expect(bare.map((name) => `${name} (${files.get(name.split('.')[0] ?? '')})`)).toEqual([]);
  });
});
