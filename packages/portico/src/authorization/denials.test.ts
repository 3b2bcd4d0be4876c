import { describe, expect, test } from 'vitest';
import type { Visitor } from '../host/accounts.ts';
import type { Server } from '../server.ts';
import type { ConsentRequest } from '../store/requests.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { AuthorizationAdditions } from './additions.ts';
import type { ConsentAnswers } from './consent-answers.ts';
import { Consent, type Presented } from './consent.ts';
import { codeUsed, nothingHeld, notAllowed } from './denials.ts';
import { notUsable } from './direct-requests.ts';
import type { GrantableScopes } from './grantable-scopes.ts';
import type { AuthorizationResponse } from './response.ts';
import type { SavedRequests } from './saved-requests.ts';
import { isOpened, notSignedInSilently, notSilent } from './silent-requests.ts';

const client = storedClient('app', 0);
const asked = {
  redirectUri: 'https://client.example/cb',
  state: 's',
  scopes: ['read', 'write'],
} as unknown as ConsentRequest;
const chosen = { ...asked, choices: { optional: ['write'], added: [] } };
const NONE = 'the person has no permission for the requested scopes: "read", "write"';
const CHOSEN =
  'the person selected no scope, or does not have the permission for any selected scope';

test.each<[() => AuthorizationResponse, string, string, string]>([
  [
    () => nothingHeld(asked, client),
    'access_denied',
    'The person holds no permission that the scopes ask for.',
    NONE,
  ],
  [() => notAllowed(asked, client, true), 'access_denied', 'The person did not allow it.', NONE],
  [() => notAllowed(chosen, client, true), 'access_denied', 'The person did not allow it.', CHOSEN],
  [
    () => notAllowed(chosen, client, false),
    'access_denied',
    'The person did not allow it.',
    'the person denied the request',
  ],
  [
    () => codeUsed(asked, client),
    'access_denied',
    'The person has allowed this request before, and its code was used.',
    'the person allowed the request again, but its authorization code was already used',
  ],
  [
    () => notSilent(asked, client),
    'interaction_required',
    'The person must be asked.',
    'the client sent prompt=none, but no remembered consent covers the request',
  ],
  [
    () => notSignedInSilently(asked, client),
    'login_required',
    'The person must sign in.',
    'the client sent prompt=none, but the person must sign in or authenticate again',
  ],
])('a request without consent ends with an error for the client: $2, $3', (respond, ...error) => {
  const response = respond();
  const { redirectUri, state, result } = response;
  expect([redirectUri, state, response.client]).toEqual([asked.redirectUri, 's', client]);
  if (!('error' in result)) throw new Error('The response is a code');
  expect([result.error.code, result.error.message, result.error.detail]).toEqual(error);
});

test('a reference to a stored request that cannot be used is a page', () => {
  expect(notUsable('it has expired')).toMatchObject({
    title: 'This link can no longer be used',
    detail: 'the request_uri: it has expired',
  });
});

test.each<[headers: Record<string, string>, page: boolean, silent: boolean]>([
  [{}, true, true],
  [{ 'Sec-Fetch-Dest': 'document' }, true, true],
  [{ 'Sec-Fetch-Dest': 'iframe' }, false, true],
  [{ 'Sec-Fetch-Dest': 'image' }, false, false],
  [{ 'Sec-Fetch-Dest': 'empty' }, false, false],
  ...['Sec-Purpose', 'Purpose', 'X-Moz', 'X-Purpose'].map(
    (name): [Record<string, string>, boolean, boolean] => [{ [name]: 'prefetch' }, false, false],
  ),
  [{ 'Sec-Purpose': 'Prerender' }, false, false],
  [{ 'Sec-Purpose': 'other', Purpose: 'other' }, true, true],
])('with %j, a person opened the page: %s, or silently: %s', (headers, page, silent) => {
  const url = 'https://as.example/oauth/authorize';
  const opened = (method: string, isSilent: boolean) =>
    isOpened(new Request(url, { method, headers }), isSilent);
  expect([opened('GET', false), opened('GET', true)]).toEqual([page, silent]);
  expect([opened('POST', false), opened('POST', true)]).toEqual([false, false]);
});

describe('a request with remembered consent', () => {
  const silent = { ...asked, silent: true } as const;
  const given = { redirectUri: 'https://client.example/the-code' } as AuthorizationResponse;

  interface Situation {
    /** Defaults to a remembered consent. */
    readonly prior?: null;
    /** Whether another page saved the request first. */
    readonly isLate?: boolean;
    /** Whether the remembered consent gives a code. */
    readonly gives?: boolean;
    /** The saved request. Null if it was removed. */
    readonly pending?: ConsentRequest | null;
    readonly added?: readonly string[];
    /** The scopes that the person may grant when the page is shown again. */
    readonly held?: readonly string[];
  }

  function begun({ prior, isLate = false, gives = false, ...situation }: Situation) {
    const { pending = asked, added, held = asked.scopes } = situation;
    const done: unknown[] = [];
    const noting = (name: string) => async (about: unknown) => void done.push([name, about]);
    const server = {
      clock: () => 1000,
      config: { consent_ttl: 60 },
      pruning: { tick: async () => {} },
      resources: { find: () => undefined },
      store: {
        consentRequests: {
          insertConsentRequest: async ({ outcome, asked: shown }: ConsentRequest) => {
            done.push(['save', outcome, shown.scopes]);
            return !isLate;
          },
          presentConsentRequest: async () => true,
        },
      },
    } as unknown as Server;
    const additions = {
      clientSource: null,
      priorConsent: { find: async () => (prior === null ? null : { id: 'earlier' }) },
    } as unknown as AuthorizationAdditions;
    const saved = {
      findPending: async () => pending,
      requireClient: async () => client,
      requireOwn: noting('require own'),
      end: async ({ redirectUri }: ConsentRequest) => void done.push(['end', redirectUri]),
    } as unknown as SavedRequests;
    const choices = added === undefined ? undefined : { optional: [], added };
    const scopes = {
      ofNew: async () => ({ scopes: asked.scopes, before: [], choices }),
      ofSaved: async () => ({ scopes: held, before: [] }),
    } as unknown as GrantableScopes;
    const answers = {
      completeWithPrior: async (_: unknown, _visitor: unknown, offered: readonly string[]) => {
        done.push(['complete', offered]);
        return gives ? given : null;
      },
    } as unknown as ConsentAnswers;
    return { consent: new Consent(server, additions, saved, scopes, answers), done };
  }

  const visitorFrom = (destination: string) =>
    ({
      user: { reference: { provider: 'staff', id: '7' } },
      browserSecret: 'the secret',
      request: new Request('https://as.example/', { headers: { 'sec-fetch-dest': destination } }),
    }) as unknown as Visitor;
  const visitor = visitorFrom('document');
  const all = asked.scopes;
  const SAVED = ['save', null, all];

  async function toldBy(presented: Promise<Presented>): Promise<string> {
    const answer = await presented;
    if ('question' in answer) return 'asks';
    const { result, redirectUri } = answer.response;
    return result !== undefined && 'error' in result ? result.error.code : redirectUri;
  }
  async function outcome(
    situation: Situation,
    { request = asked, from = visitor, of = client } = {},
  ) {
    const { consent, done } = begun(situation);
    const told = await toldBy(consent.begin(request, of, from, { requestId: 'id' }));
    return [told, ...done];
  }

  test('gets a code for the scopes that the client requested, also silently in a frame', async () => {
    const code = [given.redirectUri, SAVED];
    expect(await outcome({ gives: true })).toEqual([...code, ['complete', all]]);
    const added = ['write'];
    expect(await outcome({ gives: true, added })).toEqual([...code, ['complete', ['read']]]);
    const from = visitorFrom('iframe');
    expect(await outcome({ gives: true }, { from })).toEqual(['asks', SAVED]);
    const framed = await outcome({ gives: true }, { from, request: silent });
    expect(framed).toEqual([...code, ['complete', all]]);
  });

  test('leads to the page if the consent cannot be used, or another page came first', async () => {
    expect(await outcome({ prior: null })).toEqual(['asks', SAVED]);
    expect(await outcome({})).toEqual(['asks', SAVED, ['complete', all]]);
    expect(await outcome({ isLate: true, gives: true })).toEqual(['asks', SAVED]);
    expect(await outcome({ prior: null, isLate: true, held: [] })).toEqual([
      'access_denied',
      SAVED,
      ['end', asked.redirectUri],
    ]);
    await expect(outcome({ pending: null })).rejects.toMatchObject({
      detail: 'the consent request was removed before its page could be shown',
    });
  });

  test('leads to no page if it is silent, and ends', async () => {
    const request = silent;
    const refused = 'interaction_required';
    expect(await outcome({ prior: null }, { request })).toEqual([refused]);
    const ended = ['end', asked.redirectUri];
    expect(await outcome({}, { request })).toEqual([refused, SAVED, ['complete', all], ended]);
    const late = { isLate: true, gives: true };
    expect(await outcome(late, { request })).toEqual([refused, SAVED]);
    expect(await outcome({ ...late, pending: silent }, { request })).toEqual([refused, SAVED]);
    const lost = await outcome({ ...late, held: [] }, { request });
    expect(lost).toEqual(['access_denied', SAVED, ended]);
    expect(await toldBy(presentedAgain({ pending: silent }))).toBe(refused);
  });

  async function presentedAgain(situation: Situation): Promise<Presented> {
    const presented = await begun(situation).consent.present('id', visitor);
    if (presented === null) throw new Error('The request was not found');
    return presented;
  }

  test('does not need the feature that read the document of its client', async () => {
    const of = { ...client, registeredBy: 'document' } as const;
    expect(await outcome({ prior: null }, { of })).toEqual(['asks', SAVED]);
  });

  test('that is closed shows nothing, and was not shown to another person', async () => {
    const closed = async (isLate: boolean) => {
      const { consent, done } = begun({ isLate });
      await consent.close(asked, client, visitor, 'id');
      return done;
    };
    const voided = ['save', 'void', []];
    expect(await closed(false)).toEqual([voided]);
    expect(await closed(true)).toEqual([voided, ['require own', 'id']]);
  });
});
