import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { OAuthError } from '../errors.ts';
import { createParameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationCode, GrantOutcome, SecondCodeUse } from '../store/grant.ts';
import { AuthorizationCodeGrant } from './authorization-code.ts';
import { asGrant } from './assertion-grant.ts';
import { CodeExchange, type CodeRules } from './code-exchange.ts';
import { makeGrants, type GrantType } from './grant-types.ts';
import type { PersonalTokenRequest } from './issuing.ts';
import type { LostAnswer } from './lost-answers.ts';
import type { GrantParts } from './parts.ts';
import { naming, ofAnotherKey } from './stored-grant.ts';

const NOW = 1_795_240_016_123;
const CLIENT = storedClient('notes', NOW, { scopes: ['openid', 'notes:read'] });
const PERSON = { provider: 'accounts', id: 'ada' };
const VERIFIER = 'v'.repeat(43);
const CODE: AuthorizationCode = {
  hash: 'code',
  family: {
    id: 'f',
    clientId: 'notes',
    person: PERSON,
    subject: 'a subject',
    scopes: ['openid', 'notes:read', 'notes:write'],
    audience: null,
    thumbprint: null,
  },
  used: false,
  expiresAt: NOW + 60,
  parameters: {
    redirectUri: 'https://client.example/cb',
    codeChallenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    nonce: 'once',
  },
};
const AWAY = new Error('away');

interface Circumstances extends Partial<Omit<CodeRules, 'grantType'>> {
  readonly outcome?: GrantOutcome;
  readonly isActive?: boolean;
  /** Whether the server issues tokens for the audience. */
  readonly isKnownAudience?: boolean;
  readonly isMeasured?: boolean;
  readonly mayRedirect?: boolean;
  /** Whether the profile of the client treats a missing verifier as a wrong one. */
  readonly isMissingWrong?: boolean;
  /** Whether burning the code ends its authorization. */
  readonly ends?: boolean;
}

/** Creates an exchange that notes what it asks the store and what it reports. */
function createExchange(given: Circumstances = {}) {
  const { outcome = { issued: true }, isActive = true, ends = false, ...others } = given;
  const { isKnownAudience = true, isMeasured = true, ...more } = others;
  const { mayRedirect = true, isMissingWrong = false, ...rules } = more;
  const did: unknown[] = [];
  const prepared: PersonalTokenRequest[] = [];
  const kept: LostAnswer[] = [];
  let now = NOW;
  const noted =
    (name: string, result: unknown) =>
    async (...asked: unknown[]) => {
      did.push([name, ...asked]);
      return result;
    };
  const measuring = {
    replayed: (kind: string) => void did.push(['measured', kind]),
    tokenIssued: (...issued: unknown[]) => void did.push(['measured', ...issued]),
  };
  const parts = {
    server: {
      clock: () => now,
      audit: async (event: unknown) => void did.push(event),
      measuring: isMeasured ? measuring : null,
      profiles: { of: () => (isMissingWrong ? { missingVerifierIsWrong: true } : null) },
      accounts: { active: async () => (isActive ? {} : null) },
      resources: {
        grantRefusal: () => (isKnownAudience ? null : 'another audience'),
        scopesOf: () => new Set(CODE.family.scopes),
      },
      store: {
        accessTokens: { findAccessToken: async () => ({ clientId: 'notes' }) },
        authorizations: {
          findHolder: async () => null,
          revokeReplayed: noted('revoke', ends),
        },
        codes: {
          findCode: async () => CODE,
          burnCode: noted('burn', ends),
          spendCode: noted('spend', outcome),
        },
      },
    },
    issuing: {
      async forPerson(request: PersonalTokenRequest) {
        prepared.push(request);
        const accessToken = { scopes: request.scopes, expiresAt: NOW + 60_000 };
        const response = { access_token: 'token', expires_in: 60, scope: '' };
        return { tokens: { accessToken }, response };
      },
      again: async ({ scopes }: PersonalTokenRequest, response: object) => ({
        ...response,
        scope: scopes.join(' '),
      }),
    },
    mayRedirect: () => mayRedirect,
    lostAnswers: { keep: (_: unknown, answer: LostAnswer) => void kept.push(answer) },
  } as unknown as GrantParts;
  const exchange = new CodeExchange(parts, {
    grantType: 'authorization_code',
    secondUse: 'revokes',
    ...rules,
  });
  const form = createParameters(new URLSearchParams());
  const send = (code = CODE, client = CLIENT) =>
    exchange.exchange(code, { client, form, thumbprint: 'a key' }, NOW);
  const passes = (milliseconds: number) => {
    now += milliseconds;
  };
  const answer = (parameters: Readonly<Record<string, string>>, client = CLIENT) =>
    new AuthorizationCodeGrant(parts).answer(
      client,
      createParameters(new URLSearchParams({ code: 'a code', ...parameters })),
      null,
    );
  return { exchange, answer, send, did, prepared, kept, passes };
}

const ABOUT = { authorization: 'f', clientId: 'notes', person: PERSON };
const REPLAYED = [
  { type: 'code_replayed', ...ABOUT },
  ['measured', 'code'],
  { type: 'family_revoked', ...ABOUT, reason: 'replay' },
];

describe('the exchange of a code', () => {
  test('issues tokens for the scopes that the client still has, with the nonce', async () => {
    const { send, did, prepared } = createExchange();
    expect(await send()).toMatchObject({ expires_in: 60 });
    const scopes = ['openid', 'notes:read'];
    const asked = { family: CODE.family, nonce: 'once', mark: null, thumbprint: 'a key', now: NOW };
    expect(prepared).toMatchObject([{ ...asked, client: CLIENT, scopes }]);
    expect(did).toMatchObject([
      ['spend', CODE, { accessToken: { scopes } }, NOW, 'revokes'],
      { type: 'tokens_issued', grantType: 'authorization_code', ...ABOUT, scopes },
      ['measured', 'authorization_code', 'access_token'],
    ]);
  });

  test('lets the grant leave scopes out, or refuse before the code is used', async () => {
    const scopesOf = async (code: AuthorizationCode, [first = '', ...rest]: readonly string[]) => {
      expect([code, rest]).toEqual([CODE, ['notes:read']]);
      return [first];
    };
    const { send, prepared } = createExchange({ scopesOf });
    await send();
    expect(prepared[0]?.scopes).toEqual(['openid']);
    const refusing = createExchange({ scopesOf: () => Promise.reject(AWAY) });
    await expect(refusing.send()).rejects.toBe(AWAY);
    expect(refusing.did).toEqual([]);
  });

  test('needs one of the granted scopes, and the log names them', async () => {
    const { send, did } = createExchange();
    await expect(send(CODE, { ...CLIENT, scopes: ['other'] })).rejects.toMatchObject({
      code: 'invalid_scope',
      detail: expect.stringMatching(/granted: .*notes:write/) as string,
    });
    expect(did).toEqual([]);
  });

  test('gives no refresh token if the page said that access ends', async () => {
    const { send, prepared } = createExchange();
    const { parameters } = CODE;
    await send({ ...CODE, parameters: parameters && { ...parameters, renews: false } });
    expect(prepared[0]?.client).toEqual({ ...CLIENT, grants: ['authorization_code'] });
  });

  test('leaves the decision about a code without parameters to the store', async () => {
    const { send, did, prepared } = createExchange({ outcome: { issued: false, refusal: 'used' } });
    await expect(send({ ...CODE, parameters: null })).rejects.toMatchObject({
      code: 'invalid_grant',
      detail: 'the code was used by another request at the same moment',
    });
    expect(prepared[0]?.nonce).toBeNull();
    expect(did.slice(1)).toEqual(REPLAYED);
  });

  test('uses up the code of an account that may not sign in, and issues nothing', async () => {
    const { send, did, prepared } = createExchange({ isActive: false });
    await expect(send()).rejects.toMatchObject({ code: 'invalid_grant' });
    expect([prepared, did]).toEqual([[], [['burn', CODE, 'notes', NOW]]]);
  });

  test('does not use the code if the server issues no tokens for its audience', async () => {
    const { send, did, prepared } = createExchange({ isKnownAudience: false });
    await expect(send()).rejects.toMatchObject({
      code: 'invalid_grant',
      detail: 'another audience',
    });
    expect([prepared, did]).toEqual([[], []]);
  });

  test('keeps a response that could not be sent, with the scopes that still apply', async () => {
    const unsettled = { issued: null, error: AWAY, settle: async () => true } as const;
    const { send, kept } = createExchange({ outcome: unsettled });
    await expect(send()).rejects.toBe(AWAY);
    expect(kept).toMatchObject([{ isSpentRefused: true }]);
    const answer = async (client: Client) => kept[0]?.answer(client);
    expect(await answer(storedClient('notes', NOW, { scopes: ['notes:read'] }))).toMatchObject({
      scope: 'notes:read',
    });
    await expect(answer({ ...CLIENT, grants: ['refresh_token'] })).rejects.toMatchObject({
      code: 'unauthorized_client',
    });
  });
});

describe('a code that is used up without tokens', () => {
  const burn = async (secondUse: SecondCodeUse, ends: boolean, isMeasured = true) => {
    const { exchange, did } = createExchange({ secondUse, ends, isMeasured });
    await exchange.burn(CODE, CLIENT, NOW);
    return did;
  };

  test('ends its authorization if its client used it before, and this is reported', async () => {
    expect(await burn('revokes', true)).toEqual([['burn', CODE, 'notes', NOW], ...REPLAYED]);
    expect(await burn('revokes', false)).toEqual([['burn', CODE, 'notes', NOW]]);
    const [replayed, , revoked] = REPLAYED;
    expect((await burn('revokes', true, false)).slice(1)).toEqual([replayed, revoked]);
  });

  test('belongs to no client if a second use is only refused', async () => {
    expect(await burn('refused', false)).toEqual([['burn', CODE, '', NOW]]);
  });
});

test('a second use that revokes nothing has at most five events per minute, and each other one is reported', async () => {
  const { exchange, did, passes } = createExchange();
  const { replays } = exchange;
  const events = () => did.splice(0).filter((each) => !Array.isArray(each));
  const seven = async () => {
    for (let use = 0; use < 7; use += 1) await replays.revoke(CODE);
  };
  await replays.revoke(CODE);
  expect(did.splice(0)).toEqual([
    ['revoke', CODE, NOW],
    { type: 'code_replayed', ...ABOUT },
    ['measured', 'code'],
  ]);
  await seven();
  expect(did.filter((each) => Array.isArray(each) && each[0] === 'measured')).toHaveLength(7);
  expect(events()).toHaveLength(4);
  await replays.audit(CODE);
  expect(events()).toHaveLength(2);
  passes(60_000);
  await seven();
  expect(events()).toHaveLength(5);
});

test('an assertion that identifies no client is refused as a grant, and other errors stay', async () => {
  expect(await asGrant(async () => 'a client')).toBe('a client');
  const failing = (error: Error) => asGrant(() => Promise.reject(error));
  const unknown = new OAuthError('invalid_client', 'Unknown.', 'for the log');
  await expect(failing(unknown)).rejects.toMatchObject({
    code: 'invalid_grant',
    message: 'The assertion is not accepted.',
    detail: 'for the log',
  });
  const other = new OAuthError('invalid_request', 'Malformed.');
  const coded = Object.assign(new Error('away'), { code: 'invalid_client' });
  for (const error of [other, coded]) await expect(failing(error)).rejects.toBe(error);
});

describe('a request with a code', () => {
  const RIGHT = { redirect_uri: 'https://client.example/cb', code_verifier: VERIFIER };
  const { code_verifier: _, ...MISSING } = RIGHT;
  const burned = ['burn', CODE, 'notes', NOW];

  test('marks the code as used if its redirect URI is no longer registered', async () => {
    const { answer, did } = createExchange({ mayRedirect: false });
    await expect(answer(RIGHT)).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(did).toEqual([burned]);
  });

  test('may use a redirect URI that the document of its client no longer contains', async () => {
    const { answer, did } = createExchange({ mayRedirect: false });
    await answer(RIGHT, { ...CLIENT, registeredBy: 'document' });
    expect(did[0]).toMatchObject(['spend', CODE, {}, NOW, 'revokes']);
  });

  test('without a verifier is malformed, or wrong if the profile says so', async () => {
    const { answer, did } = createExchange();
    await expect(answer(MISSING)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(did).toEqual([]);
    const strict = createExchange({ isMissingWrong: true });
    await expect(strict.answer(MISSING)).rejects.toMatchObject({
      code: 'invalid_grant',
      detail: 'the code_verifier is missing',
    });
    expect(strict.did).toEqual([burned]);
  });
});

test('a client must be registered for a grant, and by an operator for access of organizations', async () => {
  const answered = { access_token: 'token', token_type: 'Bearer', expires_in: 1, scope: '' };
  const type = (changes: Partial<GrantType>): GrantType => ({
    name: 'authorization_code',
    begins: 'person',
    clients: 'any',
    grant: () => ({ answer: async () => answered }),
    ...changes,
  });
  const ask = async (changes: Partial<GrantType>, client: Partial<Client> = {}) => {
    const parts = { server: { measuring: null } } as GrantParts;
    const grant = makeGrants([type(changes)], parts).get('authorization_code');
    const form = createParameters(new URLSearchParams());
    return grant?.answer({ ...CLIENT, ...client }, form, null);
  };
  const refused = (message: string) => ({ code: 'unauthorized_client', message });
  const other = { grants: ['refresh_token'] };
  await expect(ask({}, other)).rejects.toMatchObject(
    refused('The client is not registered for the grant authorization_code.'),
  );
  expect(await ask({ checksClient: true }, other)).toBe(answered);
  expect(await ask({}, { public: true })).toBe(answered);
  await expect(ask({ clients: 'confidential' }, { public: true })).rejects.toMatchObject(
    refused('Public clients cannot use the grant authorization_code.'),
  );
  expect(await ask({ clients: 'confidential' })).toBe(answered);
  expect(await ask({ begins: 'organization' })).toBe(answered);
  for (const registeredBy of ['registration', 'document'] as const) {
    expect(await ask({}, { registeredBy })).toBe(answered);
    await expect(ask({ begins: 'organization' }, { registeredBy })).rejects.toMatchObject(
      refused('Only clients that an operator registered can use the grant authorization_code.'),
    );
  }
});

test('the log says which key a request lacks, and which authorization an error is about', async () => {
  expect(ofAnotherKey('code', null)).toContain('contains no proof of that key');
  expect(ofAnotherKey('code', 'another')).toContain('contains a proof of a different key');
  const error = new OAuthError('invalid_grant', 'Refused.');
  const failing = (family: typeof CODE.family | null) =>
    naming(family, () => Promise.reject(error));
  await expect(failing(null)).rejects.toBe(error);
  expect(error.authorization).toBeNull();
  await expect(failing(CODE.family)).rejects.toBe(error);
  expect(error.authorization).toBe('f');
});
