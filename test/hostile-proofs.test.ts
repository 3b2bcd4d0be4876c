// @engines sqlite, long: the server refuses these proofs before it uses the store
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientKey } from './support/assertions.ts';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import {
  anyProof,
  CHANGES,
  KEYS,
  proofOf,
  rightParts,
  type Change,
  type Door,
} from './support/hostile-proofs.ts';
import { SCALE, RUNS_ALL } from './support/scale.ts';

/**
 * Sends malformed proofs of possession to every endpoint. None may cause a server error, and none
 * may be accepted.
 */

const clock = createClock();
const config = {
  oauth_server: {
    dpop: 'accept',
    pushed_authorization_requests: 'accept',
    access_token_ttl: 8_640_000,
  },
};
let portal: RunningPortal;
let tools: RunningAssistant;
let service: TestClient;
let application: TestClient;
/**
 * For each key, a token of Ada's at the portal and a token of a service for tools, both bound to
 * the key.
 */
const bound = new Map<ClientKey, { readonly ada: string; readonly service: string }>();

const basic = ({ id, secret }: TestClient) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** A token of this server that is bound to this key. */
async function issue(
  at: { readonly url: string },
  client: TestClient,
  key: ClientKey,
  form: Readonly<Record<string, string>>,
): Promise<string> {
  const url = `${at.url}/oauth/token`;
  const DPoP = proofOf(rightParts(key, { method: 'POST', url, accessToken: null }, clock.now()));
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: basic(client), DPoP },
    body: new URLSearchParams(form),
  });
  const tokens = (await response.json()) as Tokens;
  expect(tokens.token_type).toBe('DPoP');
  return tokens.access_token;
}

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config });
  tools = await startAssistant({ clock: clock.now, config });
  service = await registerClient(portal, {
    redirectUris: [],
    scopes: ['notes:read'],
    grants: ['client_credentials'],
  });
  application = await registerClient(portal);
  const browser = await portal.signedIn(ADA);
  for (const key of KEYS) {
    const code = await obtainCode(portal, application, browser);
    bound.set(key, {
      ada: await issue(portal, application, key, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
      service: await issue(tools, tools.service, key, {
        grant_type: 'client_credentials',
        scope: 'mcp:service',
        resource: tools.resource,
      }),
    });
  }
});
afterAll(async () => {
  await portal.close();
  await tools.close();
});

/** A route or an endpoint that checks proofs. */
interface Place {
  readonly name: string;
  readonly path: string;
  readonly method: string;
  /** The owner of the token at this place. It is null if no token is needed. */
  readonly token: 'ada' | 'service' | null;
}

const PLACES: readonly Place[] = [
  { name: 'the token endpoint', path: '/oauth/token', method: 'POST', token: null },
  { name: 'the endpoint of pushed requests', path: '/oauth/par', method: 'POST', token: null },
  { name: 'UserInfo', path: '/oauth/userinfo', method: 'GET', token: 'ada' },
  { name: 'a protected route', path: '/api/notes', method: 'GET', token: 'ada' },
  { name: 'the MCP endpoint', path: '/mcp', method: 'POST', token: 'service' },
];

const runningAt = ({ path }: Place) => (path === '/mcp' ? tools : portal);

function doorOf(place: Place, key: ClientKey): Door {
  const accessToken = place.token === null ? null : (bound.get(key)?.[place.token] ?? '');
  return { method: place.method, url: runningAt(place).url + place.path, accessToken };
}

const CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'service_status', arguments: {} },
});

function requestWith({ path }: Place, { method, url, accessToken }: Door, proof: string): Request {
  const headers = new Headers({
    Authorization:
      accessToken === null
        ? basic(path === '/oauth/par' ? application : service)
        : `DPoP ${accessToken}`,
    DPoP: proof,
    Accept: 'application/json, text/event-stream',
  });
  if (path === '/mcp') headers.set('Content-Type', 'application/json');
  const bodies: Readonly<Record<string, BodyInit>> = {
    '/oauth/token': new URLSearchParams({ grant_type: 'client_credentials' }),
    '/oauth/par': new URL(authorizationUrl(portal, application)).searchParams,
    '/mcp': CALL,
  };
  return new Request(url, { method, headers, body: bodies[path] ?? null });
}

/** Returns the result: accepted, rejected because of the proof, or an unexpected response. */
async function judged(place: Place, response: Response): Promise<string> {
  const { status, headers } = response;
  const said = await response.text();
  if (status === 200 || status === 201) return 'accepted';
  // Node rejects header lines that are too long for HTTP.
  if (status === 431) return 'refused';
  const challenge = headers.get('www-authenticate') ?? '';
  const isRefused =
    place.token === null
      ? status === 400 && said.includes('"error":"invalid_dpop_proof"')
      : status === 401 && /^DPoP .*error="invalid_dpop_proof"/.test(challenge);
  const tellsNothing = !said.includes('eyJ') && headers.get('cache-control') === 'no-store';
  return isRefused && tellsNothing ? 'refused' : `${status} ${challenge} ${said}`;
}

interface Tried {
  readonly place: Place;
  readonly key: ClientKey;
  readonly changes: readonly Change[];
}

/** Checks that a valid proof is accepted once, and that an invalid proof is never accepted. */
async function expectJudged({ place, key, changes }: Tried): Promise<void> {
  const door = doorOf(place, key);
  const applied = changes.filter(({ at }) => at === undefined || at(door));
  const parts = applied.reduce(
    (changed, { apply }) => apply(changed, door, clock.now()),
    rightParts(key, door, clock.now()),
  );
  const proof = proofOf(parts);
  const ask = async () => judged(place, await fetch(requestWith(place, door, proof)));
  const became = await ask();
  const again = became === 'accepted' ? await ask() : became;
  const isRight = applied.every(({ harmless }) => harmless);
  expect([became, again]).toEqual([isRight ? 'accepted' : 'refused', 'refused']);
}

const SHORT = ['/oauth/token', '/oauth/userinfo'];
const [KEY] = KEYS as readonly [ClientKey, ...ClientKey[]];

// The same function checks proofs at all places. So in the short form, these tests run at only two
// places.
describe.each(PLACES.filter(({ path }) => RUNS_ALL || SHORT.includes(path)))(
  'a hostile DPoP proof at $name',
  (place) => {
    // @shows AS-24.3, RFC9449-4.3a, RFC9449-4.3b, RFC9449-4.3c, RFC9449-4.3d
    test.each(CHANGES)('$name', async (change) => {
      await expectJudged({ place, key: KEY, changes: [change] });
    });
  },
);

describe.each(PLACES)('a hostile key in a DPoP proof at $name', (place) => {
  // @shows AS-24.3, RFC9449-4.3a
  test('gives the expected result, with any fields', async () => {
    const property = fc.asyncProperty(anyProof, ({ key, changes }) =>
      expectJudged({ place, key, changes }),
    );
    await fc.assert(property, { numRuns: SCALE.hostileProofs });
  });

  test.each([16, 64, 256, 1024])(
    'is refused with %i KB, larger than any HTTP header line',
    async (size) => {
      const door = doorOf(place, KEY);
      const right = rightParts(KEY, door, clock.now());
      for (const jwk of [
        { kty: 'RSA', n: 'A'.repeat(size * 1024), e: 'AQAB' },
        { kty: 'EC', crv: 'P-256', x: 'A'.repeat(size * 1024), y: 'A' },
        { more: Array.from({ length: size * 256 }, () => 1) },
      ]) {
        const proof = proofOf({ ...right, header: { ...right.header, jwk } });
        const response = await runningAt(place).application.fetch(requestWith(place, door, proof));
        expect(await judged(place, response)).toBe('refused');
      }
    },
  );
});
