import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Log } from '@portico/sql';
import { DistinctKeys } from './distinct-keys.ts';
import type { SigningKey } from './signing-key.ts';

const START = 1_800_000_000_000;

/** A key of a KeySigner if `file` is null. It signs from this many milliseconds on. */
const keyOf = (kid: string, file: string | null, x: string, signsFrom = 0): SigningKey =>
  ({
    kid,
    file,
    algorithm: 'EdDSA',
    isStaged: true,
    publicJwk: { x },
    signsFrom: START + signsFrom,
  }) as Partial<SigningKey> as SigningKey;

function start() {
  const state = { now: START };
  const logged: unknown[] = [];
  const log = { error: (...line: unknown[]) => void logged.push(line[1]) } as unknown as Log;
  const keys = new DistinctKeys({ files: { directory: 'keys' }, clock: () => state.now, log });
  return { of: (...all: SigningKey[]) => keys.of(all), keys, state, logged };
}

const OTHER = keyOf('other', 'other.json', 'o');

describe('the keys with distinct ids', () => {
  test('are all keys, in the same array, if none share an id', () => {
    const all = [keyOf('a', null, 'x'), keyOf('b', 'b.json', 'x'), OTHER];
    const { keys, logged } = start();
    expect(keys.of(all)).toBe(all);
    expect(logged).toEqual([]);
  });

  test('change with the keys of the server', () => {
    const [signer, file] = [keyOf('a', null, 'x'), keyOf('a', 'a.json', 'x')];
    const { of, keys } = start();
    expect(of(signer, file)).toEqual([signer]);
    const all = [signer, file, OTHER];
    expect(keys.of(all)).toEqual([signer, OTHER]);
    expect(keys.of(all)).toBe(keys.of(all));
    expect(of(signer, OTHER)).toEqual([signer, OTHER]);
  });

  test('change when each KeySigner starts to sign', () => {
    const [early, late] = [keyOf('a', null, 'x', 1), keyOf('b', null, 'y', 2)];
    const [a, b] = [keyOf('a', 'a.json', 'x'), keyOf('b', 'b.json', 'y')];
    const { keys, state } = start();
    const all = [early, late, a, b];
    expect(keys.of(all)).toEqual([a, b]);
    state.now += 1;
    expect(keys.of(all)).toEqual([early, b]);
    state.now += 1;
    expect(keys.of(all)).toEqual([early, late]);
  });

  test('are logged once if a KeySigner and a file are different keys', () => {
    const [signer, file] = [keyOf('a', null, 'x'), keyOf('a', 'a.json', 'y')];
    const { of, logged } = start();
    of(signer, file);
    of(signer, file, OTHER);
    expect(logged).toEqual([{ file: path.join('keys', 'a.json') }]);
    of(signer, file, keyOf('b', null, 'x'), keyOf('b', 'b.json', 'y'));
    expect(logged).toEqual([
      { file: path.join('keys', 'a.json') },
      { file: path.join('keys', 'b.json') },
    ]);
  });
});
