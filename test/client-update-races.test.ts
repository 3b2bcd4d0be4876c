// @engines all, long: several processes race
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientChanges, ClientRegistration } from 'portico';
import { startBeside } from './support/beside.ts';
import { portico, ROOT, type RunningProcess } from './support/console.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  introspect,
  obtainCode,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import type { Visitor } from './support/visitor.ts';

/**
 * One process changes a client while another one serves it. The test compares the responses before,
 * during and after the change.
 */
const ROUNDS = SCALE.updateRounds;
const GONE = 'notes:write';
const OTHER_URI = 'https://client.example/other';

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let ada: Visitor;

beforeAll(async () => {
  one = await startPortal();
  ({ other, process: process2 } = await startBeside(one));
  ada = await one.signedIn(ADA);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

const update = (client: TestClient, changes: ClientChanges) =>
  one.server.clients.update(client.id, changes, { by: 'console' });
const jsonOf = async <T>(response: Response): Promise<T> => (await response.json()) as T;
const scopeOf = ({ scope }: Tokens) => scope.split(' ');
/**
 * Returns the tokens in a response of the token endpoint. Null if the request was refused. A server
 * error fails the test.
 */
async function given(response: Response): Promise<Tokens | null> {
  expect([200, 400]).toContain(response.status);
  return response.status === 200 ? jsonOf<Tokens>(response) : null;
}
const living = (all: readonly (Tokens | null)[]) => all.filter((tokens) => tokens !== null);
const statusOf = async (
  portal: RunningPortal,
  at: string,
  { access_token: token }: Tokens,
  init: RequestInit = {},
) => (await callApi(portal, at, token, init)).status;
const WRITE = { method: 'POST', body: '{"text":"x"}' };
const own = (portal: RunningPortal, client: TestClient) =>
  requestToken(portal, client, { grant_type: 'client_credentials' });

const register = (registration: Partial<ClientRegistration> = {}) =>
  registerClient(one, {
    redirectUris: [REDIRECT_URI, OTHER_URI],
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    ...registration,
  });
const authorized = async (client: TestClient) =>
  jsonOf<Tokens>(await exchangeCode(one, client, await obtainCode(one, client, ada)));

/**
 * Returns the code of a question that a person allows now. Null if it can no longer be answered.
 */
async function allowed(question: Response): Promise<string | null> {
  const answer = await ada.submit(question, { decision: 'allow' });
  expect([303, 400]).toContain(answer.status);
  if (answer.status === 400) return null;
  return new URL(answer.headers.get('location') ?? '').searchParams.get('code');
}

/** Resolves when the other process has sent this many responses. */
async function pass(requests: number): Promise<void> {
  for (let count = 0; count < requests; count += 1)
    await fetch(`${other.url}/.well-known/jwks.json`);
}

/**
 * Changes the client at a different point of the other process's work in each round. After the
 * response, sends further requests.
 */
async function changed<T>(
  round: number,
  client: TestClient,
  changes: ClientChanges,
  afterwards: () => Promise<T>,
): Promise<T> {
  await pass(round % 4);
  await update(client, changes);
  return afterwards();
}

/** Starts each of these at the moment of the change, some slightly later, in both processes. */
async function atThatMoment<T, U>(
  round: number,
  change: Promise<U>,
  uses: readonly ((portal: RunningPortal) => Promise<T>)[],
): Promise<readonly [results: readonly T[], later: U]> {
  return Promise.all([
    Promise.all(
      uses.map(async (use, index) => {
        await pass(index * (round % 3));
        return use(index % 2 === 0 ? other : one);
      }),
    ),
    change,
  ]);
}

describe('an update of a client in one process while another process serves it', () => {
  // @shows AS-30.3, AS-30.6
  test('removes a scope from all usable tokens and from responses to later requests', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = await register();
      const before = [await authorized(client), await authorized(client), await authorized(client)];
      const codes = [await obtainCode(one, client, ada), await obtainCode(one, client, ada)];
      const questions = [
        await ada.visit(authorizationUrl(other, client)),
        await ada.visit(authorizationUrl(one, client)),
      ];
      // The change has ended: requests that begin now are limited, in the other process too.
      const change = changed(round, client, { removeScopes: [GONE] }, async () => [
        await given(await own(other, client)),
        await given(await refresh(other, client, before[2]?.refresh_token ?? '')),
      ]);
      const newCodes: string[] = [];
      const use = async (portal: RunningPortal, question: Response) => {
        const code = await allowed(question);
        if (code !== null) newCodes.push(code);
        return given(await own(portal, client));
      };
      const [meanwhile, later] = await atThatMoment(round, change, [
        async (portal) => given(await refresh(portal, client, before[0]?.refresh_token ?? '')),
        async (portal) => given(await refresh(portal, client, before[1]?.refresh_token ?? '')),
        async (portal) => given(await exchangeCode(portal, client, codes[0] ?? '')),
        async (portal) => given(await exchangeCode(portal, client, codes[1] ?? '')),
        ...questions.map((question) => (portal: RunningPortal) => use(portal, question)),
        ...[0, 1].map(() => async (portal: RunningPortal) => given(await own(portal, client))),
      ]);
      for (const tokens of living(later)) expect(scopeOf(tokens)).not.toContain(GONE);
      expect(living(later)).toHaveLength(2);
      const exchanged = await Promise.all(
        newCodes.map(async (code) => given(await exchangeCode(other, client, code))),
      );
      for (const tokens of living(exchanged)) expect(scopeOf(tokens)).not.toContain(GONE);
      expect(exchanged).toHaveLength(2);
      for (const tokens of living([...before, ...meanwhile, ...later, ...exchanged])) {
        for (const portal of [one, other])
          expect(await statusOf(portal, '/api/notes', tokens, WRITE)).toBe(403);
        expect(String((await introspect(one, tokens.access_token))['scope'])).not.toContain(GONE);
      }
      for (const tokens of living([...meanwhile, ...exchanged])) {
        if (tokens.refresh_token === undefined) continue;
        expect(
          scopeOf(await jsonOf<Tokens>(await refresh(other, client, tokens.refresh_token))),
        ).not.toContain(GONE);
      }
    }
  });

  // @shows AS-30.4, AS-30.6
  test('removes a redirect URI: no code sent there is exchanged, and no later code is sent there', async () => {
    const counts = { sent: 0, page: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = await register();
      const to = { redirect_uri: OTHER_URI };
      const questions = await Promise.all(
        [one, other, one, other].map((portal) => ada.visit(authorizationUrl(portal, client, to))),
      );
      const late = questions.pop();
      const code = await obtainCode(one, client, ada, to);
      const change = changed(round, client, { removeRedirectUris: [OTHER_URI] }, async () =>
        late === undefined ? 'none was asked' : allowed(late),
      );
      const [codes, sentLater] = await atThatMoment(
        round,
        change,
        questions.map((question) => () => allowed(question)),
      );
      expect(sentLater).toBeNull();
      for (const each of [code, ...codes]) {
        counts[each === null ? 'page' : 'sent'] += 1;
        if (each === null) continue;
        expect(await given(await exchangeCode(other, client, each, to))).toBeNull();
      }
    }
    process.stdout.write(`Answers at the moment of a removal: ${JSON.stringify(counts)}\n`);
  });

  // @shows AS-30.5, AS-30.6
  test('removes a grant: no token from it is valid, whenever it was issued', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = await register({ scopes: ['notes:read', 'notes:write'] });
      const scope = { scope: 'notes:read notes:write' };
      const [first, second] = [
        await jsonOf<Tokens>(
          await exchangeCode(one, client, await obtainCode(one, client, ada, scope)),
        ),
        await jsonOf<Tokens>(
          await exchangeCode(one, client, await obtainCode(one, client, ada, scope)),
        ),
      ];
      const code = await obtainCode(one, client, ada, scope);
      const changes = { removeGrants: ['refresh_token', 'client_credentials'] };
      const change = changed(round, client, changes, async () => [
        await given(await own(other, client)),
        await given(await refresh(other, client, second.refresh_token)),
      ]);
      const [results, later] = await atThatMoment(round, change, [
        async (portal) => given(await own(portal, client)),
        async (portal) => given(await own(portal, client)),
        async (portal) => given(await refresh(portal, client, first.refresh_token)),
        async (portal) => given(await exchangeCode(portal, client, code)),
      ]);
      const [services, ofPeople] = [results.slice(0, 2), results.slice(2)];
      expect(later).toEqual([null, null]);
      for (const tokens of living(services)) {
        for (const portal of [one, other])
          expect(await statusOf(portal, '/api/notes', tokens)).toBe(401);
      }
      for (const tokens of living([first, ...ofPeople])) {
        if (tokens.refresh_token === undefined) continue;
        expect(await given(await refresh(other, client, tokens.refresh_token))).toBeNull();
      }
    }
  });

  // @shows AS-30.6
  test('is saved even if several processes update the client simultaneously', async () => {
    const client = await register();
    const uris = Array.from({ length: 4 }, (_, index) => `https://client.example/${index}`);
    const env = { ...one.env, PUBLIC_URL: one.url };
    const byProcess = uris.map((uri) =>
      portico(['oauth:client:update', client.id, `--add-redirect-uri=${uri}`], {
        cwd: `${ROOT}/examples/portal`,
        env,
      }),
    );
    for (let count = 0; count < ROUNDS * 4; count += 1) {
      await update(client, count % 2 === 0 ? { removeScopes: [GONE] } : { addScopes: [GONE] });
    }
    for (const { code, stderr } of await Promise.all(byProcess))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const kept = await one.server.clients.find(client.id);
    expect([...(kept?.redirectUris ?? [])].sort()).toEqual(
      [...uris, REDIRECT_URI, OTHER_URI].sort(),
    );
    expect(kept?.scopes).toContain(GONE);
  });
});
