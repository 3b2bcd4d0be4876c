// @engines sqlite: it checks invented histories, and uses no server
import { describe, expect, test } from 'vitest';
import type { Answer } from './support/stateful/grants.ts';
import { findViolations, PROMISES, WITH_WINDOW, type Promised } from './support/history/checker.ts';
import type { Asked, Ending, Operation } from './support/history/recorder.ts';
import { judge } from './support/history/report.ts';
import { createRandom } from './support/random.ts';
import { simulate, type Faults } from './support/history/simulated-server.ts';

/**
 * A line contains the request, its start and end, and the response. Each token has the name of the
 * use that returned it.
 */
type Line = readonly [asked: Asked, begin: number, end: number, answer: Ending, node?: string];

function history(...lines: readonly Line[]): readonly Operation[] {
  return lines.map(([request, begin, end, answer, node = 'node 1'], index) => ({
    id: index + 1,
    request,
    families: ['family'],
    node,
    by: 'test',
    begin,
    end,
    answer,
  }));
}

const own = { family: 'family', as: 'client', fault: 'none' } as const;
const allow: Asked = { kind: 'allow', family: 'family', client: 'client' };
const exchange = (name: string): Asked => ({ kind: 'exchange', ...own, name });
const refresh = (token: string, name: string): Asked => ({ kind: 'refresh', ...own, token, name });
const revoke = (token: string): Asked => ({ kind: 'revoke', ...own, token, name: '' });
const look = (token: string): Asked => ({ kind: 'look', token });
const remove: Asked = { kind: 'remove', client: 'client' };
const revokeClient: Asked = { kind: 'revoke client', client: 'client' };

/** Until time 4, the person allows the request, and the client exchanges the code. */
const begun: readonly Line[] = [
  [allow, 1, 2, 200],
  [exchange('1'), 3, 4, 200],
];

const brokenBy = (lines: readonly Line[]) =>
  findViolations(history(...lines)).map(({ broken }) => broken);

describe('the history checker rejects a history that contains', () => {
  test.each<[string, readonly Line[], Promised]>([
    [
      'two answers for one refresh token',
      [...begun, [refresh('1', '2'), 5, 8, 200], [refresh('1', '3'), 6, 9, 200, 'node 2']],
      'answered twice',
    ],
    [
      'two answers for one code',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 6, 200],
        [exchange('2'), 4, 7, 200],
      ],
      'answered twice',
    ],
    [
      'two codes for one consent',
      [
        [allow, 1, 3, 200],
        [allow, 2, 4, 200],
      ],
      'answered twice',
    ],
    [
      'a token that a different node accepts after a confirmed revocation',
      [...begun, [revoke('1'), 5, 6, 200], [look('1'), 7, 8, 'good', 'node 2']],
      'lost revocations',
    ],
    [
      'a refresh on a different node after a confirmed revocation',
      [...begun, [revoke('1'), 5, 6, 200], [refresh('1', '2'), 7, 8, 200, 'node 2']],
      'lost revocations',
    ],
    [
      'a token that is valid after the person removed the access',
      [...begun, [remove, 5, 6, 200], [look('1'), 7, 8, 'good']],
      'lost revocations',
    ],
    [
      'a token that is valid after its client was revoked',
      [...begun, [revokeClient, 5, 6, 200], [look('1'), 7, 8, 'good']],
      'lost revocations',
    ],
    [
      'an access token that is valid after it was revoked alone',
      [
        ...begun,
        [{ kind: 'revoke access', token: '1', as: 'client' }, 5, 6, 200],
        [look('1'), 7, 8, 'good'],
      ],
      'lost revocations',
    ],
    [
      'a token that is invalid at first and valid later',
      [...begun, [revoke('1'), 5, 20, 200], [look('1'), 6, 7, 'dead'], [look('1'), 8, 9, 'good']],
      'lost revocations',
    ],
    [
      'a token that is valid after a replay',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 200],
        [refresh('1', '3'), 7, 8, 400],
        [look('2'), 9, 10, 'good'],
      ],
      'alive after a replay',
    ],
    [
      'a successor that can be used after a replay',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 200],
        [refresh('1', '3'), 7, 8, 400],
        [refresh('2', '4'), 9, 10, 200],
      ],
      'alive after a replay',
    ],
    [
      'an issued token that is invalid',
      [...begun, [look('1'), 5, 6, 'dead']],
      'lost answered tokens',
    ],
    [
      'an issued refresh token that is refused',
      [...begun, [refresh('1', '2'), 5, 6, 200], [refresh('2', '3'), 7, 8, 400, 'node 2']],
      'lost answered tokens',
    ],
    [
      'an issued code that is refused',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 4, 400],
      ],
      'lost answered tokens',
    ],
    [
      'a refresh token that is refused after a 503, though no use succeeded',
      [...begun, [refresh('1', '2'), 5, 6, 'unavailable'], [refresh('1', '3'), 7, 8, 400]],
      'refused after 503',
    ],
    [
      'a code that is refused after a 503, though no exchange succeeded',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 4, 'unavailable'],
        [exchange('2'), 5, 6, 400],
      ],
      'refused after 503',
    ],
    [
      'a code that is refused after a 503, and has not expired',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 30_000, 'unavailable'],
        [exchange('2'), 30_001, 60_000, 400],
      ],
      'refused after 503',
    ],
    [
      'two answers for one code, the second when it has expired',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 4, 200],
        [exchange('2'), 60_002, 60_003, 200],
      ],
      'answered twice',
    ],
    [
      'a refresh token that is refused after a minute',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'unavailable'],
        [refresh('1', '3'), 70_000, 70_001, 400],
      ],
      'refused after 503',
    ],
    [
      'a token that is valid after the code was used again when it had expired',
      [...begun, [exchange('2'), 60_002, 60_003, 400], [look('1'), 60_004, 60_005, 'good']],
      'alive after a replay',
    ],
    [
      'a consent request that is refused as answered after a 503',
      [
        [allow, 1, 2, 'unavailable'],
        [allow, 3, 4, 400],
      ],
      'refused after 503',
    ],
    [
      'a consent request that cannot be denied after a 503',
      [
        [{ kind: 'deny', family: 'family', client: 'client' }, 1, 2, 'unavailable'],
        [{ kind: 'deny', family: 'family', client: 'client' }, 3, 4, 400],
      ],
      'refused after 503',
    ],
    [
      'a token that ends long after a use returned 503 and then tokens',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'unavailable'],
        [refresh('1', '3'), 7, 8, 200],
        [look('3'), 9, 10, 'good'],
        [look('3'), 11, 12, 'dead'],
      ],
      'lost answered tokens',
    ],
  ])('%s', (_, lines, broken) => {
    expect(brokenBy(lines)).toEqual([broken]);
  });
});

describe('the history checker accepts a history that contains', () => {
  test.each<[string, readonly Line[]]>([
    [
      'a refresh that succeeds during a revocation',
      [
        ...begun,
        [revoke('1'), 5, 20, 200],
        [refresh('1', '2'), 6, 7, 200],
        [look('2'), 21, 22, 'dead'],
      ],
    ],
    [
      'a replay that is refused before the response of the use arrives',
      [
        ...begun,
        [refresh('1', '2'), 5, 20, 200],
        [refresh('1', '3'), 6, 7, 400],
        [look('1'), 8, 9, 'dead'],
      ],
    ],
    [
      'a use whose response was cut off, and a replay of it',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'lost'],
        [refresh('1', '3'), 7, 8, 400],
        [look('1'), 9, 10, 'dead'],
      ],
    ],
    [
      'a use whose response was cut off, and that had no effect',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'lost'],
        [refresh('1', '3'), 7, 8, 200],
        [look('3'), 9, 10, 'good'],
      ],
    ],
    [
      'a revocation that returned 503 and takes effect later',
      [
        ...begun,
        [revoke('1'), 5, 6, 'unavailable'],
        [look('1'), 7, 8, 'good'],
        [look('1'), 9, 10, 'dead'],
      ],
    ],
    [
      'a use that returned 503 and then tokens',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'unavailable'],
        [refresh('1', '3'), 7, 8, 200],
        [look('3'), 9, 10, 'good'],
      ],
    ],
    [
      'a use that returned 503, took effect, and succeeded when it was repeated',
      [
        ...begun,
        [refresh('1', '2'), 5, 6, 'unavailable'],
        [refresh('1', '3'), 5, 7, 400, 'node 2'],
        [refresh('1', '4'), 8, 9, 200],
        [look('4'), 10, 11, 'dead'],
      ],
    ],
    [
      'two simultaneous uses, of which one succeeds and one returns 503 (a possible replay)',
      [
        ...begun,
        [refresh('1', '2'), 5, 8, 200],
        [refresh('1', '3'), 6, 9, 'unavailable'],
        [look('2'), 10, 11, 'good'],
        [look('2'), 12, 13, 'dead'],
      ],
    ],
    [
      'a code that is expired when it is used, the first time or after a minute of 503',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 4, 'unavailable'],
        [exchange('2'), 60_002, 60_003, 400],
        [exchange('3'), 60_004, 60_005, 400],
      ],
    ],
    [
      'a code that was used in time, and answered after it had expired',
      [
        [allow, 1, 2, 200],
        [exchange('1'), 3, 60_003, 200],
        [look('1'), 60_004, 60_005, 'good'],
        [exchange('2'), 60_006, 60_007, 400],
        [look('1'), 60_008, 60_009, 'dead'],
      ],
    ],
    [
      'an access token that was revoked alone, while its family stays valid',
      [
        ...begun,
        [{ kind: 'revoke access', token: '1', as: 'client' }, 5, 6, 200],
        [look('1'), 7, 8, 'dead'],
        [refresh('1', '2'), 9, 10, 200],
        [look('2'), 11, 12, 'good'],
      ],
    ],
    [
      'a revoked client that gets 401 for every token',
      [
        ...begun,
        [revokeClient, 5, 6, 200],
        [refresh('1', '2'), 7, 8, 401],
        [revoke('1'), 9, 10, 401],
      ],
    ],
    [
      'a hundred 503 responses',
      [
        ...begun,
        ...Array.from({ length: 100 }, (_, index): Line => {
          const begin = 5 + index * 2;
          return [refresh('1', `${index + 2}`), begin, begin + 1, 'unavailable'];
        }),
        [refresh('1', '200'), 300, 301, 200],
        [look('200'), 302, 303, 'good'],
      ],
    ],
  ])('%s', (_, lines) => {
    expect(brokenBy(lines)).toEqual([]);
  });

  test('a use that took effect, although its response was 503', () => {
    const lines: readonly Line[] = [
      ...begun,
      [refresh('1', '2'), 5, 6, 'unavailable'],
      [refresh('1', '3'), 7, 8, 400],
    ];
    expect(findViolations(history(...lines), 'unknown')).toEqual([]);
  });
});

describe('the history checker, with oauth_server:refresh_retry_seconds,', () => {
  const broken = (...lines: readonly Line[]) =>
    findViolations(history(...begun, ...lines), 'not spent', WITH_WINDOW).map(
      (each) => each.broken,
    );

  test('accepts the same tokens for one refresh token, simultaneously or after a lost response', () => {
    expect(
      broken([refresh('1', '2'), 5, 8, 200], [refresh('1', '2'), 6, 7, 200, 'node 2']),
    ).toEqual([]);
    expect(
      broken(
        [refresh('1', '2'), 5, 6, 'lost'],
        [refresh('1', '3'), 7, 8, 200],
        [refresh('1', '3'), 9, 10, 200, 'node 2'],
        [look('3'), 11, 12, 'good'],
      ),
    ).toEqual([]);
  });

  test('rejects different tokens for one refresh token', () => {
    expect(broken([refresh('1', '2'), 5, 6, 200], [refresh('1', '3'), 7, 8, 200])).toEqual([
      'answered twice',
    ]);
  });

  test('rejects repeated tokens after they were used, and valid tokens after a replay', () => {
    const used: readonly Line[] = [
      [refresh('1', '2'), 5, 6, 200],
      [refresh('2', '3'), 7, 8, 200],
    ];
    expect(broken(...used, [refresh('1', '2'), 9, 10, 200])).toEqual(['alive after a replay']);
    expect(broken(...used, [refresh('1', '4'), 9, 10, 400], [look('3'), 11, 12, 'good'])).toEqual([
      'alive after a replay',
    ]);
  });

  test('accepts the refusal of a repeated refresh only if its access token was revoked', () => {
    const revokeAccess: Asked = { kind: 'revoke access', token: '2', as: 'client' };
    const answered: Line = [refresh('1', '2'), 5, 6, 200];
    const refused: Line = [refresh('1', '3'), 9, 10, 400];
    const goesOn: Line = [refresh('2', '4'), 11, 12, 200];
    expect(broken(answered, [revokeAccess, 7, 8, 200], refused, goesOn)).toEqual([]);
    expect(broken(answered, [revokeAccess, 7, 8, 200], [refresh('1', '2'), 9, 10, 200])).toEqual([
      'lost revocations',
    ]);
  });

  test('rejects the refusal of a retry that should work, and a token that ended wrongly', () => {
    const answered: Line = [refresh('1', '2'), 5, 6, 200];
    expect(broken(answered, [refresh('1', '3'), 7, 8, 400])).toEqual(['lost answered tokens']);
    expect(broken(answered, [refresh('1', '2'), 7, 8, 200], [look('2'), 9, 10, 'dead'])).toEqual([
      'lost answered tokens',
    ]);
  });
});

describe('the report of a history violation', () => {
  test('describes the few operations that show it, and counts the others', () => {
    const { texts, broken } = judge(
      history(
        ...begun,
        [look('1'), 5, 6, 'good'],
        [refresh('1', '2'), 7, 8, 200],
        [look('2'), 9, 10, 'good'],
        [refresh('2', '3'), 11, 12, 200],
        [revoke('1'), 13, 14, 200],
        [look('2'), 15, 16, 'dead'],
        [look('3'), 17, 18, 'good', 'node 2'],
        [look('3'), 19, 20, 'dead', 'node 2'],
      ),
    );
    expect(broken).toMatchObject({ 'lost revocations': 1, 'answered twice': 0 });
    expect(texts).toHaveLength(1);
    const [text = ''] = texts;
    expect(text).toContain('family: lost revocations');
    expect(text).toMatch(/>.*node 2 .*is T3 good\? +good/);
    expect(text).toMatch(/revoke R1 +200/);
    expect(text).not.toMatch(/T2 good/);
  });
});

describe('the history checker, for a simulated server', () => {
  const SEEDS = 120;

  test('accepts every history of a server without faults', () => {
    const counts: Partial<Record<Ending, number>> = {};
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const operations = simulate(createRandom(seed), {});
      for (const { answer } of operations) counts[answer] = (counts[answer] ?? 0) + 1;
      expect(judge(operations).texts, `seed ${seed}`).toEqual([]);
    }
    const seen: readonly (Answer | Ending)[] = [200, 400, 'good', 'dead', 'lost', 'unavailable'];
    expect(seen.filter((answer) => (counts[answer] ?? 0) < SEEDS / 3)).toEqual([]);
  });

  test.each<[string, Faults, Promised]>([
    ['sometimes forgets that a refresh token was used', { answersTwice: true }, 'answered twice'],
    ['sometimes reads old data', { readsOld: true }, 'lost revocations'],
    [
      'sometimes loses a revocation that it confirmed',
      { losesRevocations: true },
      'lost revocations',
    ],
    ['sometimes loses tokens that it issued', { losesTokens: true }, 'lost answered tokens'],
    [
      'sometimes refuses a replay and keeps all tokens valid',
      { ignoresReplays: true },
      'alive after a replay',
    ],
    [
      'sometimes uses up a token for which it returns 503',
      { spendsUnavailable: true },
      'refused after 503',
    ],
  ])('finds the fault of a server that %s', (_, faults, expected) => {
    const found = new Map<Promised, number>(PROMISES.map((promise) => [promise, 0]));
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      for (const { broken } of findViolations(simulate(createRandom(seed), faults))) {
        found.set(broken, (found.get(broken) ?? 0) + 1);
      }
    }
    expect(found.get(expected)).toBeGreaterThan(0);
  });
});
