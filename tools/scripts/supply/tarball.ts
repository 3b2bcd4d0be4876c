// Reads packages as npm packs them (ustar, gzip), and compares two of them.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

interface Entry {
  readonly mode: string;
  readonly modified: string;
  readonly sha256: string;
}

const BLOCK = 512;

/** Returns the entries of a package by name. */
export function entriesOf(tarball: Uint8Array): ReadonlyMap<string, Entry> {
  const tar = gunzipSync(tarball);
  const found = new Map<string, Entry>();
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const text = (from: number, length: number) =>
      tar
        .toString('utf8', at + from, at + from + length)
        .replace(/\0[^]*$/, '')
        .trim();
    const size = parseInt(text(124, 12), 8);
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    const prefix = text(345, 155);
    found.set(prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`, {
      mode: text(100, 8),
      modified: text(136, 12),
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return found;
}

/**
 * Returns the differences of two packages, one line for each. Empty if they are equal byte for
 * byte.
 */
export function differences(one: Uint8Array, other: Uint8Array): readonly string[] {
  if (Buffer.compare(one, other) === 0) return [];
  const [first, second] = [entriesOf(one), entriesOf(other)];
  const names = [...new Set([...first.keys(), ...second.keys()])].toSorted();
  const found = names.flatMap((name) => {
    const [here, there] = [first.get(name), second.get(name)];
    if (here === undefined || there === undefined) return [`${name} is in one of them alone`];
    if (here.sha256 !== there.sha256) return [`${name} has another content`];
    if (here.mode !== there.mode) return [`${name} has the modes ${here.mode} and ${there.mode}`];
    return here.modified === there.modified ? [] : [`${name} has another time`];
  });
  return found.length > 0
    ? found
    : ['the same files, in another order or compressed by another zlib'];
}
