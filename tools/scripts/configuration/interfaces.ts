import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A member of an interface of the configuration, as its doc comment and its type say it. */
export interface Member {
  readonly name: string;
  /** One line of Markdown; empty where there is no comment. */
  readonly says: string;
  /** As TypeScript, without `undefined` and without a line break. */
  readonly type: string;
}

const COMMENT = String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\s*)?`;
const MEMBER = new RegExp(String.raw`${COMMENT}readonly (\w+)\??: ((?:[^;{]|\{[^}]*\})+);`, 'g');

/**
 * The members of every interface, and of every type that is an object, of these files, by its name.
 */
export function interfacesOf(
  root: string,
  files: readonly string[],
): ReadonlyMap<string, readonly Member[]> {
  const found = files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const declarations = text.matchAll(
      /^export (?:interface|type) (\w+)[^{;]*\{\n([^]*?)^\s*\};?$/gm,
    );
    return [...declarations].map(([, name = '', body = '']) => [name, membersOf(body)] as const);
  });
  const interfaces = new Map(found);
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    // What a feature adds to an interface of the core, and a name for one of two types.
    for (const [, name = '', more = ''] of text.matchAll(
      /^ {2}interface (\w+) extends (\w+) \{\}$/gm,
    ))
      interfaces.set(name, [...(interfaces.get(name) ?? []), ...(interfaces.get(more) ?? [])]);
  }
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, name = '', other = ''] of text.matchAll(
      /^export type (\w+) = string \| (\w+);$/gm,
    ))
      interfaces.set(name, interfaces.get(other) ?? []);
  }
  return interfaces;
}

function membersOf(body: string): readonly Member[] {
  return [...body.matchAll(MEMBER)].map(([, comment = '', name = '', type = '']) => ({
    name,
    // An example is for editors.
    says: comment
      .replace(/(?:\s*\n\s*\*)*\s*@example[^]*$/, '')
      .replaceAll(/\s*\n\s*\*\s?/g, ' ')
      .trim(),
    type: type
      .replace(/\s*\|\s*undefined$/, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }));
}
