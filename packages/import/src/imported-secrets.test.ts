import { createHash, pbkdf2Sync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PasswordHasher } from 'portico';
import {
  createImportedSecrets,
  isImported,
  isOfNothing,
  isWrapped,
  readIterations,
  wrapHash,
  type ForeignHash,
} from './imported-secrets.ts';

const SALT = Buffer.from('salt');
const derived = (iterations: number): ForeignHash => ({
  kind: 'pbkdf2_sha256',
  digest: pbkdf2Sync('right', SALT, iterations, 32, 'sha256').toString('hex'),
  iterations,
  salt: SALT,
});

/** Creates a hasher and a derivation that are fast and count their calls. */
function createCounting() {
  const counted = { verified: 0, pieces: 0, iterations: 0 };
  const passwordHasher: PasswordHasher = {
    hash: async (password) => `$plain$${password}`,
    async verify(password, hash) {
      counted.verified += 1;
      // The hasher must receive only its own hashes.
      expect([password, hash]).toEqual([expect.any(String), expect.stringMatching(/^\$plain\$/)]);
      return hash === `$plain$${password}`;
    },
  };
  const derive = async (secret: string, salt: Buffer, iterations: number) => {
    counted.pieces += 1;
    counted.iterations += iterations;
    return pbkdf2Sync(secret, salt, iterations, 32, 'sha256');
  };
  return { counted, passwordHasher, derive };
}

describe('verifying a client secret', () => {
  // @shows AS-41.4
  test('costs the same for every hash and secret: one verification and the same iterations', async () => {
    const { counted, passwordHasher, derive } = createCounting();
    const hasher = createImportedSecrets(passwordHasher, 100, derive);
    const hashes = [
      await hasher.hash('right'),
      await wrapHash({ kind: 'sha256', digest: '0'.repeat(64) }, hasher),
      ...(await Promise.all([1, 40, 100, 101].map((count) => wrapHash(derived(count), hasher)))),
    ];
    for (const hash of hashes) {
      for (const secret of ['right', 'wrong']) {
        Object.assign(counted, { verified: 0, pieces: 0, iterations: 0 });
        await hasher.verify(secret, hash);
        expect([hash, secret, counted]).toEqual([
          hash,
          secret,
          { verified: 1, pieces: 2, iterations: 101 },
        ]);
      }
    }
  });

  // @shows AS-41.4
  test('waits in the queue once for any hash, so that started work finishes before waiting work', async () => {
    const { passwordHasher } = createCounting();
    const begun: string[] = [];
    const derive = async (secret: string, salt: Buffer, iterations: number) => {
      begun.push(`${secret} ${iterations}`);
      return pbkdf2Sync(secret, salt, iterations, 32, 'sha256');
    };
    const hasher = createImportedSecrets(passwordHasher, 100, derive);
    const hash = await wrapHash(derived(40), hasher);
    await Promise.all(['a', 'b', 'c', 'd'].map((secret) => hasher.verify(secret, hash)));
    expect(begun.slice(0, 4).toSorted()).toEqual(['a 40', 'a 61', 'b 40', 'b 61']);
    expect(begun).toHaveLength(8);
  });

  // @shows AS-41.4
  test('derives nothing and rejects imported hashes if no iterations are allowed', async () => {
    const { counted, passwordHasher, derive } = createCounting();
    const hasher = createImportedSecrets(passwordHasher, 0, derive);
    const hash = await wrapHash(derived(1), hasher);
    const { digest } = derived(1);
    expect([await hasher.verify('right', hash), await hasher.verify(digest, hash)]).toEqual([
      false,
      false,
    ]);
    expect([await hasher.verify('right', '$plain$right'), counted.iterations]).toEqual([true, 0]);
  });

  // @shows AS-41.3
  test('compares the secret only with a hash that is within the allowed iterations', async () => {
    const { passwordHasher } = createCounting();
    const hasher = createImportedSecrets(passwordHasher, 100);
    for (const [iterations, isRight] of [
      [1, true],
      [100, true],
      [101, false],
    ] as const) {
      const hash = await wrapHash(derived(iterations), hasher);
      expect([iterations, await hasher.verify('right', hash)]).toEqual([iterations, isRight]);
      expect([iterations, await hasher.verify('wrong', hash)]).toEqual([iterations, false]);
    }
  });
});

describe('the hash of a secret from a different server', () => {
  const { passwordHasher } = createCounting();
  const sha256 = (secret: string) => createHash('sha256').update(secret).digest('hex');

  // @shows AS-41.3
  test('with SHA-256 matches only the secret, not the hash itself', async () => {
    const kept = await wrapHash({ kind: 'sha256', digest: sha256('right') }, passwordHasher);
    expect(kept).toBe(`imported$sha256$$plain$${sha256('right')}`);
    for (const iterations of [0, 100]) {
      const hasher = createImportedSecrets(passwordHasher, iterations);
      const secrets = ['right', 'wrong', sha256('right')];
      expect(await Promise.all(secrets.map((secret) => hasher.verify(secret, kept)))).toEqual([
        true,
        false,
        false,
      ]);
    }
  });

  // @shows AS-41.3
  test('with zero or too many iterations matches neither the secret nor the hash', async () => {
    const hasher = createImportedSecrets(passwordHasher, 100);
    for (const iterations of [101, 0]) {
      const inner = { ...derived(Math.max(iterations, 1)), iterations };
      const kept = await wrapHash(inner, passwordHasher);
      for (const secret of ['right', inner.digest, sha256('right')])
        expect([iterations, await hasher.verify(secret, kept)]).toEqual([iterations, false]);
    }
  });

  // @shows AS-41.5
  test('is recognized only in its own stored form', async () => {
    const foreign: readonly ForeignHash[] = [
      { kind: 'sha256', digest: sha256('right') },
      { kind: 'sha256', digest: sha256('other') },
      derived(1),
      derived(2),
      { ...derived(1), digest: sha256('right') },
      { ...derived(1), salt: Buffer.from('salz') } as ForeignHash,
    ];
    const kept = await Promise.all(foreign.map((each) => wrapHash(each, passwordHasher)));
    expect(kept[2]).toBe(`imported$pbkdf2_sha256$1$c2FsdA$$plain$${derived(1).digest}`);
    const matches = await Promise.all(
      foreign.map((each) =>
        Promise.all(kept.map((other) => isWrapped(each, other, passwordHasher))),
      ),
    );
    expect(matches).toEqual(foreign.map((_, one) => foreign.map((__, other) => one === other)));
    // A hash of this server is not a wrapped hash, even if its value is the same.
    const own = await passwordHasher.hash(sha256('right'));
    expect(await Promise.all(foreign.map((each) => isWrapped(each, own, passwordHasher)))).toEqual(
      foreign.map(() => false),
    );
  });

  // @shows AS-41.4
  test('reports its number of iterations', async () => {
    const { digest } = derived(1);
    const kept = await Promise.all(
      [derived(1), derived(40)].map((each) => wrapHash(each, passwordHasher)),
    );
    expect(kept.map(readIterations)).toEqual([1, 40]);
    for (const other of [
      `imported$sha256$$plain$${digest}`,
      `$plain$imported$pbkdf2_sha256$1$c2FsdA$x`,
      '',
    ])
      expect(readIterations(other)).toBe(0);
  });

  test('shows whether the secret is empty', async () => {
    const empty = pbkdf2Sync('', SALT, 2, 32, 'sha256').toString('hex');
    const foreign: readonly ForeignHash[] = [
      { kind: 'sha256', digest: sha256('') },
      { kind: 'sha256', digest: sha256('right') },
      { kind: 'sha256', digest: empty },
      { kind: 'pbkdf2_sha256', digest: empty, iterations: 2, salt: SALT },
      { kind: 'pbkdf2_sha256', digest: empty, iterations: 1, salt: SALT },
      { kind: 'pbkdf2_sha256', digest: empty, iterations: 2, salt: Buffer.from('salz') },
      { kind: 'pbkdf2_sha256', digest: sha256(''), iterations: 2, salt: SALT },
      derived(2),
    ];
    expect(await Promise.all(foreign.map(isOfNothing))).toEqual(
      foreign.map((_, place) => place === 0 || place === 3),
    );
  });

  test('has a stored form that differs from the hashes of this server', async () => {
    const sha256Hash: ForeignHash = { kind: 'sha256', digest: sha256('right') };
    const kept = [
      await wrapHash(sha256Hash, passwordHasher),
      await wrapHash(derived(1), passwordHasher),
      await passwordHasher.hash('right'),
      `$plain$${await wrapHash(derived(1), passwordHasher)}`,
      '',
    ];
    expect(kept.map(isImported)).toEqual([true, true, false, false, false]);
  });
});
