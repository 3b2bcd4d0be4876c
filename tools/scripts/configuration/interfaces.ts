import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A member of a configuration interface, with its doc comment and its type. */
export interface Member {
  readonly name: string;
  /** The comment as one line of Markdown. Empty if there is no comment. */
  readonly says: string;
  /** The type in TypeScript, without `undefined` and without line breaks. */
  readonly type: string;
}

const COMMENT = String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\s*)?`;
const MEMBER = new RegExp(String.raw`${COMMENT}readonly (\w+)\??: ((?:[^;{]|\{[^}]*\})+);`, 'g');

/**
 * Returns the members of every interface and object type in these files, by the name of the type.
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
    // Also match the members that a feature adds to an interface of the core, and a name for one of
    // two types.
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
    // Leave out examples, which are for editors.
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
