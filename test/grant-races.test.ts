// @engines all, long: several processes race
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import {
  ADA,
  callApi,
  errorOf,
  exchangeCode,
  authorizationUrl,
  obtainCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { createVisitor, formOf, locationOf, type Visitor } from './support/visitor.ts';

/** Two processes do different things to one authorization at the same moment. */
const ROUNDS = SCALE.mixedRaceRounds;

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let client: TestClient;
let stranger: TestClient;
let ada: Visitor;
/** How far the clock of the first process is ahead of the second's, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  const config = { oauth_server: { audit: { keep: true } } };
  one = await startPortal({ clock: () => Date.now() + ahead, config });
  ({ other, process: process2 } = await startBeside(one, {}, config));
  client = await registerClient(one);
  stranger = await registerClient(one);
  ada = await one.signedIn(ADA);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

const tokensOf = async (response: Response) => {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
};
const authorized = async () =>
  tokensOf(await exchangeCode(one, client, await obtainCode(one, client, ada)));
const opens = async (at: RunningPortal, { access_token: token }: Tokens) =>
  (await callApi(at, '/api/whoami', token)).status === 200;
const garbled = (part: string) =>
  `${part.slice(0, -2)}${part.at(-2) === 'x' ? 'y' : 'x'}${part.slice(-1)}`;
const withPart = (token: string, at: number, change: (part: string) => string) => {
  const parts = token.split('.');
  return parts.with(at, change(parts.at(at) ?? '')).join('.');
};

async function revoke(at: RunningPortal, as: TestClient, token: string): Promise<number> {
  const headers = {
    Authorization: `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`,
  };
  const body = new URLSearchParams({ token });
  return (await fetch(`${at.url}/oauth/revoke`, { method: 'POST', headers, body })).status;
}

async function expectAfter(
  what: Rival['afterwards'],
  successor: Tokens | null,
  before: readonly Tokens[],
): Promise<void> {
  const lives = what === 'all live';
  const all = successor === null ? before : [...before, successor];
  for (const tokens of all) {
    expect([await opens(one, tokens), await opens(other, tokens)]).toEqual([lives, lives]);
  }
  const dead = lives ? [] : all;
  for (const tokens of dead)
    expect((await refresh(one, client, tokens.refresh_token)).status).toBe(400);
  if (lives) await tokensOf(await refresh(other, client, successor?.refresh_token ?? ''));
}

async function expectLiving(response: Response): Promise<void> {
  const tokens = await tokensOf(response);
  expect(await opens(other, tokens)).toBe(true);
  await tokensOf(await refresh(other, client, tokens.refresh_token));
}

async function expectNothingOf(response: Response, code: string): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
  expect((await exchangeCode(other, client, code)).status).toBe(400);
}

/** Prunes at a different point of the other process's work each time. */
async function pruneAfter(requests: number): Promise<void> {
  for (let count = 0; count < requests; count += 1)
    await fetch(`${other.url}/.well-known/jwks.json`);
  await one.server.prune();
}

/** Actions in one process while the other refreshes with the current token. */
interface Rival {
  readonly does: (used: Tokens, current: Tokens) => Promise<unknown>;
  readonly afterwards: 'all live' | 'none lives';
}

describe('while one process refreshes a token, another process', () => {
  // @shows AS-5.5, AS-5.16, AS-10.1, AS-18.2, AS-18.6, AS-18.8, RFC9700-4.14.2b
  test.each<[string, Rival]>([
    [
      'receives a token that was used before: all tokens end',
      { does: (used) => refresh(other, client, used.refresh_token), afterwards: 'none lives' },
    ],
    [
      'receives the token with a garbled end: all tokens end',
      {
        does: (_, { refresh_token: token }) => refresh(other, client, withPart(token, -1, garbled)),
        afterwards: 'none lives',
      },
    ],
    [
      'revokes the token: all tokens end',
      {
        does: (_, { refresh_token: token }) => revoke(other, client, token),
        afterwards: 'none lives',
      },
    ],
    [
      'revokes a token that was used before: all tokens end',
      { does: (used) => revoke(other, client, used.refresh_token), afterwards: 'none lives' },
    ],
    [
      'receives the token from a different client: all tokens stay valid',
      {
        does: (_, { refresh_token: token }) => refresh(other, stranger, token),
        afterwards: 'all live',
      },
    ],
    [
      'receives a token that was never issued: all tokens stay valid',
      {
        does: (_, { refresh_token: token }) => refresh(other, client, withPart(token, 1, garbled)),
        afterwards: 'all live',
      },
    ],
    [
      'revokes a token never issued, or as a different client: all tokens stay valid',
      {
        does: (_, { refresh_token: token }) =>
          Promise.all([
            revoke(other, client, withPart(token, 1, garbled)),
            revoke(other, stranger, token),
          ]),
        afterwards: 'all live',
      },
    ],
    ['prunes: all tokens stay valid', { does: () => one.server.prune(), afterwards: 'all live' }],
  ])('%s', async (_, { does, afterwards }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const used = await authorized();
      const current = await tokensOf(await refresh(other, client, used.refresh_token));
      const [response] = await Promise.all([
        refresh(one, client, current.refresh_token),
        does(used, current),
      ]);
      const successor = response.status === 200 ? ((await response.json()) as Tokens) : null;
      await expectAfter(afterwards, successor, [used, current]);
    }
  });

  // @shows AS-18.1, AS-18.6, AS-18.8
  test('with a clock ahead prunes authorizations: issued tokens stay valid, nothing else is issued', async () => {
    // A code is valid for a minute, and rows stay for an hour longer.
    ahead = 3_700_000;
    const counts = { exchanged: 0, pruned: 0 };
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const codes = await Promise.all(
          Array.from({ length: 4 }, () => obtainCode(other, client, ada)),
        );
        const exchanges = codes.map((code) => exchangeCode(other, client, code));
        const [responses] = await Promise.all([Promise.all(exchanges), pruneAfter(round % 5)]);
        for (const [index, response] of responses.entries()) {
          const isAnswered = response.status === 200;
          counts[isAnswered ? 'exchanged' : 'pruned'] += 1;
          await (isAnswered
            ? expectLiving(response)
            : expectNothingOf(response, codes[index] ?? ''));
        }
      }
    } finally {
      ahead = 0;
    }
    process.stdout.write(`Exchanges against pruning: ${JSON.stringify(counts)}\n`);
  });
});

describe('while a person answers Allow twice at the same time, in two processes,', () => {
  /** The person's browser, at the other process. */
  let there: Visitor;
  beforeAll(() => {
    there = createVisitor(other.url);
    for (const cookie of ada.cookies().split('; ')) there.accept(`${cookie}; path=/`);
  });
  const pageOf = (of: TestClient) => ada.visit(authorizationUrl(one, of, { scope: 'notes:read' }));
  const allowAt = async (browser: Visitor, page: Response) => {
    const { action, fields } = formOf(await page.clone().text());
    return browser.post(action, { ...fields, decision: 'allow' });
  };
  const answered = (response: Response) => {
    expect(response.status).toBe(303);
    return locationOf(response).searchParams;
  };
  const grantedTo = async (clientId: string) =>
    (await one.server.audit.list({ clientId, type: 'consent_granted' })).items.length;

  // @shows AS-8.9, AS-8.21
  test('both responses redirect, one of the codes works, and there is one authorization', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const own = await registerClient(one);
      const page = await pageOf(own);
      const browsers = [ada, there, ada, there].slice(0, 2 + (round % 3));
      const answers = await Promise.all(browsers.map((browser) => allowAt(browser, page)));
      const codes = answers.map((each) => answered(each).get('code') ?? '');
      expect(new Set(codes).size).toBe(browsers.length);
      const exchanges = [];
      // The requests run one after the other. The replaced code is refused before and after, and
      // ends nothing.
      for (const code of round % 2 === 0 ? codes : codes.toReversed())
        exchanges.push(await exchangeCode(round % 2 === 0 ? one : other, own, code));
      const [given, ...more] = exchanges.filter(({ status }) => status === 200);
      expect([given?.status, more.length]).toEqual([200, 0]);
      expect(await opens(other, (await given?.json()) as Tokens)).toBe(true);
      expect(await grantedTo(own.id)).toBe(1);
    }
  });

  // @shows AS-8.21, AS-8.22
  test('and the application exchanges the first code: one code gives tokens, which stay valid', async () => {
    const counts = { first: 0, second: 0 };
    for (let round = 0; round < ROUNDS * 2; round += 1) {
      const page = await pageOf(client);
      const first = answered(await allowAt(ada, page)).get('code') ?? '';
      const racing = [exchangeCode(one, client, first), allowAt(there, page)] as const;
      const [exchanged, again] = await Promise.all(racing);
      const told = answered(again);
      const isFirst = exchanged.status === 200;
      counts[isFirst ? 'first' : 'second'] += 1;
      const living = isFirst ? exchanged : await exchangeCode(one, client, told.get('code') ?? '');
      expect([told.has('code'), told.get('error')]).toEqual([
        !isFirst,
        isFirst ? 'access_denied' : null,
      ]);
      expect([200, 400]).toContain(exchanged.status);
      await expectLiving(living);
    }
    process.stdout.write(`A code exchanged while it is replaced: ${JSON.stringify(counts)}\n`);
  });
});

// @shows AS-10.1, AS-18.6, AS-19.12
test('an access token revoked by two processes at the same time causes one audit event', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const tokens = await authorized();
    const all = [one, other, one, other].map((at) => revoke(at, client, tokens.access_token));
    expect(await Promise.all(all)).toEqual([200, 200, 200, 200]);
    expect([await opens(one, tokens), await opens(other, tokens)]).toEqual([false, false]);
    const [authorization = ''] = tokens.refresh_token.split('.');
    const { items } = await one.server.audit.list({ authorization, type: 'access_token_revoked' });
    expect(items).toMatchObject([
      { clientId: client.id, authorization, address: expect.any(String) },
    ]);
    await tokensOf(await refresh(other, client, tokens.refresh_token));
  }
});

describe('a refresh token that differs from the issued one', () => {
  const nul = '\0';
  const long = 'x'.repeat(64 * 1024 - 400);

  // @shows AS-6.19, AS-18.11
  test.each<[string, (token: string) => string]>([
    ['its family in capitals', (token) => withPart(token, 0, (family) => family.toUpperCase())],
    ['its family with a space', (token) => withPart(token, 0, (family) => `${family} `)],
    ['NUL in its family', (token) => withPart(token, 0, (family) => `${family}${nul}`)],
    ['NUL in what the family shares', (token) => withPart(token, 1, (shared) => `${shared}${nul}`)],
    ['a part before it', (token) => `x.${token}`],
    ['dots that are encoded', (token) => token.replaceAll('.', '%2E')],
    ['dots of a different script', (token) => token.replaceAll('.', '\uff0e')],
    ['64 KiB of family', (token) => `${long}.${token}`],
    ['64 KiB of what the family shares', (token) => withPart(token, 1, () => long)],
    ['a line before it', (token) => `\n${token}`],
    [
      'the digits of its family as others',
      (token) => withPart(token, 0, (id) => id.replace(/\d/, '\u0661')),
    ],
  ])('is unknown with %s, and changes nothing', async (_, change) => {
    const tokens = await authorized();
    const response = await refresh(one, client, change(tokens.refresh_token));
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
    expect(await revoke(one, client, change(tokens.refresh_token))).toBe(200);
    expect(await opens(one, tokens)).toBe(true);
    await tokensOf(await refresh(one, client, tokens.refresh_token));
  });

  // @shows AS-6.19, AS-18.11
  test.each<[string, (token: string) => string]>([
    ['a part after it', (token) => `${token}.x`],
    ['a dot after it', (token) => `${token}.`],
    ['NUL at its end', (token) => `${token}${nul}`],
    ['NUL in its last part', (token) => withPart(token, -1, (own) => `${nul}${own}`)],
    ['64 KiB of last part', (token) => withPart(token, -1, () => long)],
    ['a space at its end', (token) => `${token} `],
    ['its last part in capitals', (token) => withPart(token, -1, (own) => own.toUpperCase())],
    ['no last part', (token) => withPart(token, -1, () => '')],
  ])(
    'with %s is a replay because its family part is right, and ends the authorization',
    async (_, change) => {
      const tokens = await authorized();
      const response = await refresh(one, client, change(tokens.refresh_token));
      expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
      expect(await opens(one, tokens)).toBe(false);
      expect((await refresh(one, client, tokens.refresh_token)).status).toBe(400);
    },
  );
});
