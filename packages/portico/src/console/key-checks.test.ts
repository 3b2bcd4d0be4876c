import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import type { KeyDescription } from '../keys/key-states.ts';
import { examineRotation } from './key-checks.ts';
import type { Subject } from './subject.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const iso = (time: number) => new Date(time).toISOString();

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'portico-key-checks-'));
});
afterAll(() => rm(directory, { recursive: true }));

function keyOf(kid: string, changes: Partial<KeyDescription> = {}): KeyDescription {
  return {
    kid,
    algorithm: 'RS256',
    createdAt: NOW - DAY,
    state: 'signing',
    signsFrom: NOW - DAY,
    retiredAt: null,
    removableAt: null,
    file: `/keys/${kid}.json`,
    ...changes,
  };
}

/** The findings about these keys, as `outcome: detail → remedy`. */
async function findings(...keys: KeyDescription[]): Promise<readonly string[]> {
  const server = {
    keys: { list: async () => keys, algorithms: ALGORITHMS },
    clock: () => NOW,
    config: { key_path: directory },
  };
  const found = await examineRotation({ server } as unknown as Subject);
  return found.map(({ outcome, detail, remedy }) =>
    remedy === null ? `${outcome}: ${detail}` : `${outcome}: ${detail} → ${remedy}`,
  );
}

test('young keys need nothing', async () => {
  expect(await findings()).toEqual([]);
  expect(await findings(keyOf('a'), keyOf('b', { state: 'retired', retiredAt: NOW }))).toEqual([]);
});

test('a staged key is reported with the time at which it signs', async () => {
  const signsFrom = NOW + 900_000;
  expect(await findings(keyOf('a', { state: 'staged', signsFrom }))).toEqual([
    `ok: a (RS256) is published and signs from ${iso(signsFrom)}`,
  ]);
});

test('a signing key is old after 366 days, unless its successor is staged', async () => {
  const young = keyOf('a', { signsFrom: NOW - 366 * DAY });
  const old = keyOf('b', { signsFrom: NOW - 366 * DAY - 1 });
  const says =
    'warning: b (RS256) has been the signing key for more than a year (since ' +
    `${iso(NOW - 366 * DAY - 1)}) → run npx portico oauth:keys:rotate --if-older-than 90d on a ` +
    'schedule';
  const successor = keyOf('c', { state: 'staged', signsFrom: NOW });
  expect(await findings(young)).toEqual([]);
  expect(await findings(old)).toEqual([says]);
  expect(await findings(successor, old)).toEqual([
    `ok: c (RS256) is published and signs from ${iso(NOW)}`,
  ]);
  expect(await findings({ ...successor, algorithm: 'ES256' }, old)).toEqual([
    `ok: c (ES256) is published and signs from ${iso(NOW)}`,
    says,
  ]);
  expect(await findings(keyOf('c'), old)).toEqual([says]);
  expect(await findings({ ...old, state: 'published' })).toEqual([]);
  expect(await findings({ ...old, signsFrom: null })).toEqual([]);
  expect(await findings({ ...old, file: null })).toEqual([
    expect.stringMatching(/ → pass another KeySigner with its signsFrom time$/),
  ]);
});

test('keys that no ID token needs any more are removable, to the millisecond', async () => {
  const retired = (kid: string, removableAt: number | null) =>
    keyOf(kid, { state: 'retired', removableAt });
  const needed = [retired('a', NOW + 1), retired('b', null)];
  expect(await findings(...needed)).toEqual([]);
  expect(await findings(retired('c', NOW), ...needed, retired('d', 1))).toEqual([
    expect.stringMatching(
      /^warning: these keys are no longer needed to verify ID tokens: c, d → run npx portico oauth:keys:prune\. /,
    ),
  ]);
});

test('a key from a clock that was more than a day ahead is reported', async () => {
  const signing = keyOf('a', { signsFrom: NOW + DAY + 1 });
  const ahead =
    `was created while a clock was ahead, at ${iso(NOW + DAY + 1)}, so oauth:keys:rotate does ` +
    'not replace the keys when they are due → correct the clock. Then';
  expect(await findings(keyOf('a', { signsFrom: NOW + DAY }))).toEqual([]);
  expect(await findings(signing)).toEqual([
    `warning: a (RS256) ${ahead} rename /keys/a.json, so that its name starts with the current ` +
      'time in milliseconds, and remove a staged key of the same algorithm',
  ]);
  expect(await findings({ ...signing, file: null })).toEqual([]);
  expect(await findings({ ...signing, signsFrom: null })).toEqual([]);
  // A staged key signs in the future anyway, so the time of its creation counts.
  const staged = keyOf('b', { state: 'staged', createdAt: NOW + DAY, signsFrom: NOW + 90 * DAY });
  const [published] = await findings(staged);
  expect(await findings(staged)).toEqual([published]);
  expect(await findings({ ...staged, createdAt: NOW + DAY + 1 })).toEqual([
    published,
    `warning: b (RS256) ${ahead} remove /keys/b.json, and run npx portico oauth:keys:rotate`,
  ]);
  expect(await findings({ ...staged, createdAt: null })).toEqual([published]);
});

test('staged keys that cannot be read are reported, but not other keys', async () => {
  const names = ['1700000000000-a.json', '0-next-b.json', '0-next-c.ES256.json', '0-next-d.txt'];
  const [signing = '', ...staged] = names.map((name) => path.join(directory, name));
  try {
    // The check of signing keys reports this one.
    await writeFile(signing, '{');
    expect(await findings(keyOf('a'))).toEqual([]);
    for (const file of staged) await writeFile(file, '{');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = {
      ...privateKey.export({ format: 'jwk' }),
      kid: 'e',
      signs_from: NOW,
      created_at: 1,
    };
    await writeFile(path.join(directory, '0-next-e.ES256.json'), JSON.stringify(jwk));
    const [found = '', ...others] = await findings(keyOf('a'));
    expect(others).toEqual([]);
    expect(found).toMatch(/ → make these files readable for the user that runs the server/);
    const said = found.split(' → ')[0] ?? '';
    expect(said.split(': ').slice(0, 2)).toEqual([
      'failing',
      `staged keys in ${directory} cannot be read`,
    ]);
    expect(said.split(': ')[2]?.split(', ').toSorted()).toEqual([
      '0-next-b.json',
      '0-next-c.ES256.json',
    ]);
  } finally {
    for (const name of await readdir(directory)) await rm(path.join(directory, name));
  }
});
