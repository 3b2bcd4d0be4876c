import { describe, expect, test } from 'vitest';
import type { KeyDescription } from '../../keys/key-states.ts';
import { KeyRotationError, KeysLostError } from '../../keys/signing-key.ts';
import type { ClientChoices } from './client-create.ts';
import { addKeysGenerate } from './keys-generate.ts';
import { addKeysList, shownKid } from './keys-list.ts';
import { addKeysPrune } from './keys-prune.ts';
import { addKeysRotate } from './keys-rotate.ts';
import { runCommand } from './run-command.fixture.ts';

const CHOICES = { algorithms: ['RS256', 'ES256'] } as unknown as ClientChoices;
const BY = { by: 'console' };
const TIMES = [1, 2, 3, 4].map((hour) => Date.UTC(2026, 0, 1, hour)) as [
  number,
  number,
  number,
  number,
];

function keyOf(kid: string, changes: Partial<KeyDescription> = {}): KeyDescription {
  return {
    kid,
    algorithm: 'RS256',
    createdAt: TIMES[0],
    state: 'signing',
    signsFrom: TIMES[1],
    retiredAt: null,
    removableAt: null,
    file: `/keys/${kid}.json`,
    ...changes,
  };
}
const STAGED = keyOf('a', { state: 'staged', algorithm: 'ES256' });
const RETIRED = keyOf('c', { state: 'retired', retiredAt: TIMES[2], removableAt: TIMES[3] });

describe('oauth:keys:list', () => {
  const list = (keys: readonly KeyDescription[], ...options: string[]) =>
    runCommand(addKeysList, { keys: { list: async () => keys } }, 'oauth:keys:list', ...options);

  test('shows the state and the known times of each key', async () => {
    const unknown = { createdAt: null, signsFrom: null, file: null };
    const keys = [STAGED, keyOf('b'), RETIRED, keyOf('d', { ...unknown, state: 'published' })];
    expect(await list(keys)).toEqual({
      printed: [
        `a  ES256  (published; signs later)
  created     2026-01-01T01:00:00.000Z
  signs from  2026-01-01T02:00:00.000Z
  file        /keys/a.json

b  RS256  (signs)
  created     2026-01-01T01:00:00.000Z
  signs since 2026-01-01T02:00:00.000Z
  file        /keys/b.json

c  RS256  (verifies only)
  created     2026-01-01T01:00:00.000Z
  retired     2026-01-01T03:00:00.000Z
  removable   2026-01-01T04:00:00.000Z
  file        /keys/c.json

d  RS256  (published; never signs, because of its file name)
  signed by   a KeySigner`,
      ],
      noted: [],
      failed: null,
    });
  });

  test('says that there is no key', async () => {
    expect(await list([])).toEqual({
      printed: [],
      noted: ['There is no signing key. Run npx portico oauth:server:setup.'],
      failed: null,
    });
  });

  test('prints JSON, also if there is no key', async () => {
    expect((await list([RETIRED], '--json')).printed).toEqual([
      {
        items: [
          {
            kid: 'c',
            alg: 'RS256',
            state: 'retired',
            created_at: '2026-01-01T01:00:00.000Z',
            signs_from: '2026-01-01T02:00:00.000Z',
            retired_at: '2026-01-01T03:00:00.000Z',
            removable_at: '2026-01-01T04:00:00.000Z',
            file: '/keys/c.json',
          },
        ],
        next: null,
      },
    ]);
    const unknown = { createdAt: null, signsFrom: null, file: null };
    expect((await list([keyOf('b', unknown)], '--json')).printed).toMatchObject([
      {
        items: [
          { created_at: null, signs_from: null, retired_at: null, removable_at: null, file: null },
        ],
      },
    ]);
    expect(await list([], '--json')).toEqual({
      printed: [{ items: [], next: null }],
      noted: [],
      failed: null,
    });
  });

  test.each(['a', 'A_z.0~-', 'x'.repeat(100)])('shows the usual id %s as it is', (kid) => {
    expect(shownKid(kid)).toBe(kid);
  });
  test.each(['', 'a b', ' a', 'a\n', 'ä', '"'])('quotes the unusual id %j', (kid) => {
    expect(shownKid(kid)).toMatch(/^".*"$/);
  });
  test('shortens a long id', () => {
    expect(shownKid('x'.repeat(101))).toBe('"[…]"');
  });
});

/** The keys of a server. It has lost its keys if it had some, or cannot read them. */
type Have = 'keys' | 'none' | 'lost' | 'unreadable' | 'away';

describe('oauth:keys:generate', () => {
  /** Generates a key on a server that has these keys. */
  async function generated(options: readonly string[], have: Have) {
    const asked: unknown[] = [];
    const unreadable = async () => {
      throw new Error('The directory cannot be read');
    };
    const keys = {
      all:
        have === 'away' || have === 'unreadable'
          ? unreadable
          : async () => (have === 'keys' ? [{}] : []),
      async published() {
        if (have === 'lost' || have === 'unreadable')
          throw new KeysLostError('There are no keys', null);
        if (have === 'away') throw new Error('The store is away');
        return [];
      },
      async generate(...given: unknown[]) {
        asked.push(given);
        return { kid: 'new' };
      },
    };
    const add = addKeysGenerate(CHOICES);
    return { ...(await runCommand(add, { keys }, 'oauth:keys:generate', ...options)), asked };
  }
  const warns = [expect.stringMatching(/^There was no key, but ID tokens were issued before\./)];

  test('says which key signs', async () => {
    expect(await generated([], 'keys')).toEqual({
      printed: ['The key new signs from now on. Earlier keys stay published.'],
      noted: [],
      failed: null,
      asked: [[undefined, BY]],
    });
    expect(await generated(['--alg=RS256'], 'none')).toMatchObject({
      printed: ['The key new signs from now on. Earlier keys stay published.'],
      noted: [],
      asked: [['RS256', BY]],
    });
    expect(await generated(['--alg=ES256'], 'keys')).toMatchObject({
      printed: [
        'The key new signs from now on, for applications created with --id-token-alg ES256. ' +
          'Earlier keys stay published.',
      ],
      asked: [['ES256', BY]],
    });
  });

  test('warns if the key replaces a lost one', async () => {
    expect(await generated([], 'lost')).toMatchObject({ noted: warns, failed: null });
    expect(await generated([], 'unreadable')).toMatchObject({ noted: warns });
    expect(await generated(['--json'], 'lost')).toMatchObject({
      printed: [{ kid: 'new' }],
      noted: warns,
    });
  });

  test('works if nothing is known about earlier keys', async () => {
    expect(await generated(['--json'], 'away')).toMatchObject({
      printed: [{ kid: 'new' }],
      noted: [],
    });
  });
});

describe('oauth:keys:prune', () => {
  async function pruned(removed: readonly string[], ...options: string[]) {
    const asked: unknown[] = [];
    const prune = async (...given: unknown[]) => {
      asked.push(given);
      return removed;
    };
    const server = { keys: { prune }, config: { id_token_ttl: 3600 } };
    return { ...(await runCommand(addKeysPrune, server, 'oauth:keys:prune', ...options)), asked };
  }

  test('names each removed key, and keeps keys as long as ID tokens are valid', async () => {
    expect(await pruned(['a', 'b'])).toEqual({
      printed: ['Removed the key a.', 'Removed the key b.'],
      noted: [],
      failed: null,
      asked: [[3600, BY]],
    });
    expect(await pruned([], '--older-than=1d')).toMatchObject({
      printed: ['No key is old enough to be removed.'],
      asked: [[86_400, BY]],
    });
    expect(await pruned(['a'], '--json')).toMatchObject({ printed: [{ removed: ['a'] }] });
    expect(await pruned([], '--older-than=x')).toMatchObject({
      failed: expect.stringContaining('--older-than must be a duration') as string,
      asked: [],
    });
  });
});

describe('oauth:keys:rotate', () => {
  const NOTHING = { created: [], staged: [], removed: [], keys: [] };

  async function rotated(answer: object | Error, ...options: string[]) {
    const asked: unknown[] = [];
    const rotate = async (given: unknown) => {
      asked.push(given);
      if (answer instanceof Error) throw answer;
      return { ...NOTHING, ...answer };
    };
    const add = addKeysRotate(CHOICES);
    const said = await runCommand(add, { keys: { rotate } }, 'oauth:keys:rotate', ...options);
    return { ...said, asked };
  }

  test('says what happened to each key', async () => {
    const created = keyOf('n');
    const waiting = keyOf('w', { state: 'staged' });
    const keys = [created, STAGED, waiting, keyOf('b'), { ...STAGED, state: 'signing' as const }];
    expect(
      await rotated({ created: [created], staged: [STAGED], removed: ['c', 'd e'], keys }),
    ).toEqual({
      printed: [
        'The key n (RS256) signs from now on.',
        'The key a (ES256) is published and signs from 2026-01-01T02:00:00.000Z.',
        'The key w (RS256) was already published and signs from 2026-01-01T02:00:00.000Z.',
        'Removed the key c.',
        'Removed the key "d e".',
      ],
      noted: [],
      failed: null,
      asked: [BY],
    });
    expect((await rotated({ created: [{ ...waiting }], keys: [waiting] })).printed).toEqual([
      'The key w (RS256) signs from now on.',
    ]);
    expect((await rotated({ keys: [keyOf('b')] })).printed).toEqual([
      'No key is old enough to be replaced or removed.',
    ]);
  });

  test('passes its options', async () => {
    const options = ['--alg=ES256', '--if-older-than=30d', '--staged-for=2h'];
    expect((await rotated({}, ...options)).asked).toStrictEqual([
      { algorithm: 'ES256', ifOlderThan: 2_592_000, stagedFor: 7200, ...BY },
    ]);
    const now = await rotated({}, '--now', '--alg=RS256');
    expect(now.asked).toStrictEqual([{ algorithm: 'RS256', now: true, ...BY }]);
    expect(now.noted).toEqual([
      expect.stringMatching(/^Applications refuse ID tokens from the old/),
    ]);
    const plain = await rotated({});
    expect(plain.noted).toEqual([]);
    expect(plain.asked).toStrictEqual([BY]);
  });

  test.each([
    [['--now', '--if-older-than=1d'], 'Use --now without --if-older-than and --staged-for'],
    [['--now', '--staged-for=1h'], 'Use --now without --if-older-than and --staged-for'],
    [['--if-older-than=x'], '--if-older-than must be a duration'],
    [['--staged-for=x'], '--staged-for must be a duration'],
  ])('refuses %j', async (options, says) => {
    expect(await rotated({}, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      asked: [],
      noted: [],
    });
  });

  test('ends with the reason if the keys cannot be rotated', async () => {
    const refused = await rotated(new KeyRotationError('There is no key'));
    expect(refused).toMatchObject({ printed: [], failed: 'There is no key' });
  });

  test('prints JSON', async () => {
    const answer = { created: [keyOf('n')], staged: [STAGED], removed: ['c'], keys: [RETIRED] };
    expect((await rotated(answer, '--json')).printed).toMatchObject([
      {
        created: [{ kid: 'n', state: 'signing' }],
        staged: [{ kid: 'a', alg: 'ES256' }],
        removed: ['c'],
        keys: [{ kid: 'c', retired_at: '2026-01-01T03:00:00.000Z' }],
      },
    ]);
  });
});
