import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '@portico/sql';
import { hasBegun, type SigningKey } from './signing-key.ts';

export interface DistinctKeysParts {
  readonly files: { readonly directory: string };
  /** In milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
}

/** A KeySigner and a key file with the same `kid` and algorithm. */
interface Pair {
  readonly signer: SigningKey;
  readonly file: SigningKey;
}

/**
 * Selects keys so that no two keys of an algorithm have the same `kid`. Clients could not know
 * which one to use, and some refuse such a key set.
 */
export class DistinctKeys {
  readonly #parts: DistinctKeysParts;
  #logged: ReadonlySet<string | null> = new Set();
  #last: {
    readonly all: readonly SigningKey[];
    readonly left: readonly SigningKey[];
    readonly keys: readonly SigningKey[];
  } = { all: [], left: [], keys: [] };

  constructor(parts: DistinctKeysParts) {
    this.#parts = parts;
  }

  /**
   * If a KeySigner and a file have the same `kid`, includes the file until the KeySigner starts to
   * sign, and then only the KeySigner. Returns the same array until the keys change.
   */
  of(all: readonly SigningKey[]): readonly SigningKey[] {
    const pairs = findPairs(all);
    if (pairs.length === 0) return all;
    this.#logOnce(pairs);
    const now = this.#parts.clock();
    const left = pairs.map(({ signer, file }) => (hasBegun(signer, now) ? file : signer));
    const isSame =
      this.#last.all === all && left.every((key, index) => this.#last.left[index] === key);
    if (!isSame) this.#last = { all, left, keys: all.filter((key) => !left.includes(key)) };
    return this.#last.keys;
  }

  #logOnce(pairs: readonly Pair[]): void {
    const { files, log } = this.#parts;
    const different = pairs.flatMap(({ signer, file }) =>
      isDeepStrictEqual(signer.publicJwk, file.publicJwk) ? [] : [file.file],
    );
    for (const name of different) {
      if (this.#logged.has(name)) continue;
      log.error(
        'The signing key {file} and a KeySigner have the same kid, but are different keys',
        { file: path.join(files.directory, name ?? '') },
      );
    }
    this.#logged = new Set(different);
  }
}

function findPairs(all: readonly SigningKey[]): readonly Pair[] {
  const signers = all.filter(({ file }) => file === null);
  return all.flatMap((file) => {
    if (file.file === null) return [];
    const signer = signers.find(
      ({ kid, algorithm }) => kid === file.kid && algorithm === file.algorithm,
    );
    return signer === undefined ? [] : [{ signer, file }];
  });
}
