import fc from 'fast-check';
import { listen, startApplication } from 'portico/host';
import { RegistrationError } from 'portico/oauth-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  afterAllOf,
  allowed,
  CODE_FAULTS,
  isGood,
  later,
  NOTHING,
  REFRESH_FAULTS,
  type Answer,
  type Lifetimes,
  type Request,
  type State,
} from './support/grant-model.ts';
import {
  ADA,
  callApi,
  createClock,
  freePort,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import type { Visitor } from './support/visitor.ts';

/** Random histories of grants, through HTTP, held against a model of the specification. */
const HISTORIES = SCALE.grantHistories;

/** What each history is made of. Numbers choose among what there is when it comes to be. */
type Intent =
  | {
      readonly does: 'exchange';
      readonly family: number;
      readonly byOther: boolean;
      readonly fault: (typeof CODE_FAULTS)[number];
    }
  | {
      readonly does: 'refresh' | 'revoke';
      readonly family: number;
      /** 0 is the newest. */
      readonly age: number;
      readonly byOther: boolean;
      readonly fault: (typeof REFRESH_FAULTS)[number];
      readonly variant: number;
    }
  | { readonly does: 'revoke access' | 'look'; readonly token: number; readonly byOther: boolean }
  | { readonly does: 'revoke code' | 'revoke client'; readonly family: number; readonly byOther: boolean }
  | { readonly does: 'prune' };

type Happening =
  | { readonly what: 'consent'; readonly client: number }
  | { readonly what: 'requests'; readonly intents: readonly Intent[]; readonly node: number }
  | { readonly what: 'time'; readonly passes: number }
  | { readonly what: 'suspension' };

const any = fc.nat({ max: 999 });
const seldom = fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true));
const mostly = <T>(usual: T, others: readonly T[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

const exchanging = fc.record({
  does: fc.constant('exchange' as const),
  family: any,
  byOther: seldom,
  fault: mostly<(typeof CODE_FAULTS)[number]>('none', CODE_FAULTS),
});
const refreshing = (does: 'refresh' | 'revoke') =>
  fc.record({
    does: fc.constant(does),
    family: any,
    age: mostly(0, [0, 1, 2, 5]),
    byOther: seldom,
    fault: mostly<(typeof REFRESH_FAULTS)[number]>('none', REFRESH_FAULTS),
    variant: any,
  });
const withToken = fc.record({
  does: fc.constantFrom('revoke access' as const, 'look' as const),
  token: any,
  byOther: seldom,
});
const rare = fc.record({
  does: fc.constantFrom('revoke code' as const, 'revoke client' as const),
  family: any,
  byOther: seldom,
});
const intent: fc.Arbitrary<Intent> = fc.oneof(
  { weight: 6, arbitrary: exchanging },
  { weight: 12, arbitrary: refreshing('refresh') },
  { weight: 2, arbitrary: refreshing('revoke') },
  { weight: 3, arbitrary: withToken },
  { weight: 1, arbitrary: rare },
  { weight: 2, arbitrary: fc.constant({ does: 'prune' as const }) },
);
/** The grant's own client and another, with the same grant: by chance the two meet in one of hundreds. */
const rivals = <T extends { readonly family: number; readonly byOther: boolean }>(grant: fc.Arbitrary<T>) =>
  fc
    .tuple(grant, grant)
    .map(([one, other]) => [one, { ...other, family: one.family, byOther: !one.byOther }]);
/** The token in use twice at once by its own client: what a window is for. By chance it is one of twenty. */
const twice = fc
  .record({
    does: fc.constant('refresh' as const),
    family: any,
    age: fc.constant(0),
    byOther: fc.constant(false),
    fault: fc.constant('none' as const),
    variant: any,
  })
  .map((one) => [one, one]);
const together = fc.oneof(
  { weight: 6, arbitrary: intent.map((one) => [one]) },
  { weight: 1, arbitrary: fc.oneof(exchanging, refreshing('refresh')).map((one) => [one, one]) },
  { weight: 1, arbitrary: fc.oneof(rivals(exchanging), rivals(refreshing('refresh'))) },
  { weight: 2, arbitrary: fc.array(intent, { minLength: 2, maxLength: 3 }) },
);
const happening = (requests: fc.Arbitrary<readonly Intent[]>): fc.Arbitrary<Happening> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ what: fc.constant('consent' as const), client: any }) },
    {
      weight: 16,
      arbitrary: fc.record({ what: fc.constant('requests' as const), intents: requests, node: any }),
    },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('time' as const), passes: any }) },
    { weight: 1, arbitrary: fc.constant({ what: 'suspension' as const }) },
  );
const historyOf = ({ retry }: Lifetimes) => {
  const requests =
    retry === undefined
      ? together
      : fc.oneof({ weight: 3, arbitrary: together }, { weight: 2, arbitrary: twice });
  return fc.array(happening(requests), { minLength: 25, maxLength: 60, size: 'max' });
};

const changed = (part: string) => `${part.slice(0, -2)}${part.at(-2) === 'x' ? 'y' : 'x'}${part.slice(-1)}`;

/** Tokens that no family is known by. They are opaque; only their parts between dots are moved about. */
const UNKNOWN: readonly ((token: string, other: string, beside: Strangers) => string)[] = [
  (token) => withPart(token, 1, changed),
  (token) => withPart(token, 0, changed),
  (token) => withPart(token, 0, (family) => family.toUpperCase()),
  (token) => withPart(token, 0, (family) => `${family} `),
  (token, other) => withPart(token, 0, () => other.split('.')[0] ?? ''),
  (token, other) => withPart(token, 1, () => other.split('.')[1] ?? ''),
  (token) => token.split('.').slice(0, 2).join('.'),
  (token) => token.slice(0, Math.floor((token.split('.')[0]?.length ?? 0) + 20)),
  (token) => token.split('.').toReversed().join('.'),
  (_, __, { code }) => code,
];
/** The access token itself is unknown where a refresh token is asked for; the revocation endpoint knows it, and ends it. */
const UNKNOWN_TO_REFRESH: typeof UNKNOWN = [...UNKNOWN, (_, __, { accessToken }) => accessToken];
/** Tokens that say what only a token of the family can have said, and are not the one in use. */
const USED: typeof UNKNOWN = [
  (token) => withPart(token, -1, changed),
  (token) => withPart(token, -1, () => ''),
  (token) => withPart(token, -1, (own) => own.slice(1)),
  (token) => token.slice(0, -1),
  (token, other) => withPart(token, -1, () => changed(other.split('.').at(-1) ?? '')),
];

interface Strangers {
  readonly code: string;
  readonly accessToken: string;
}

function withPart(token: string, at: number, change: (part: string) => string): string {
  const parts = token.split('.');
  return parts.with(at, change(parts.at(at) ?? '')).join('.');
}

describe.each<[string, Lifetimes]>([
  ['lifetimes as usual', { code: 60, access: 3600, refresh: 2_592_000 }],
  ['an access token that outlives the refresh token', { code: 60, access: 20_000, refresh: 9000 }],
  ['a window for refreshing again', { code: 60, access: 3600, refresh: 9000, retry: 30 }],
])('%s', (_, lifetimes) => {
  const clock = createClock();
  let portal: RunningPortal;
  let inspector: TestClient;
  let ada: Visitor;
  /** Where requests go: two servers on one database, where it takes two. */
  const nodes: RunningPortal[] = [];
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const { code, access, refresh, retry = 0 } = lifetimes;
    const ttl = { code_ttl: code, access_token_ttl: access, refresh_token_ttl: refresh };
    // Revoked clients fail to authenticate often here; with this draw nobody has to wait for it.
    const random = () => 0;
    portal = await startPortal({
      clock: clock.now,
      random,
      signingKey: false,
      config: { oauth_server: { ...ttl, refresh_retry_seconds: retry } },
    });
    closing.push(() => portal.close());
    nodes.push(portal);
    const { database } = portal.application;
    if (database.dialect === 'sqlite') await database.execute('PRAGMA synchronous = OFF');
    // Two connections of SQLite in one thread would wait for each other for ever.
    else nodes.push(await startSecond());
    inspector = await registerClient(portal, { redirectUris: [], scopes: [], grants: ['introspection'] });
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  async function startSecond(): Promise<RunningPortal> {
    const port = await freePort();
    const env = { ...portal.env, PORT: String(port), PUBLIC_URL: portal.url };
    const application = await startApplication(portal.definition, { env });
    const running = await listen(application, { port, hostname: '127.0.0.1' });
    closing.push(async () => {
      await running.close();
      await application.close();
    });
    return { ...portal, url: `http://localhost:${port}` };
  }

  /** Does what the history says, and holds every answer against the model. */
  async function play(happenings: readonly Happening[]): Promise<void> {
    const clients = new Map<string, TestClient>();
    const codes = new Map<string, string>();
    const tokens = new Map<string, Tokens>();
    /** More than one only until what is asked next tells them apart. */
    let states: readonly State[] = [NOTHING];
    let count = 0;

    const now = () => states[0] ?? NOTHING;
    const pick = <T>(from: readonly T[], number: number): T | null => from[number % from.length] ?? null;
    const living = () => [...clients.keys()].filter((name) => !now().revokedClients.includes(name));

    async function addClient(): Promise<void> {
      const isPublic = clients.size % 2 === 1;
      const scopes = ['notes:read'];
      clients.set(`client-${clients.size}`, await registerClient(portal, { public: isPublic, scopes }));
    }

    async function setActive(active: boolean): Promise<void> {
      if (active) {
        await portal.restore(ADA);
        ada = await portal.signedIn(ADA);
      } else await portal.suspend(ADA);
      states = states.map((state) => ({ ...state, active }));
    }

    async function consent(number: number): Promise<void> {
      if (!now().active) await setActive(true);
      while (living().length < 2) await addClient();
      const client = pick(living(), number) ?? '';
      const family = `family-${(count += 1)}`;
      const at = clients.get(client) ?? { id: '', secret: '' };
      codes.set(family, await obtainCode(portal, at, ada, { scope: 'notes:read' }));
      states = states.map((state) => allowed(state, family, client, lifetimes));
    }

    /** The request that an intent stands for now; null when there is nothing that it could be about. */
    function requestFor(intended: Intent): Request | null {
      const { families, accessTokens } = now();
      const sender = (family: string, byOther: boolean) => {
        const owner = families[family]?.client ?? '';
        if (!byOther) return owner;
        return [...clients.keys()].findLast((name) => name !== owner) ?? owner;
      };
      /** A few families, the newest first, and those before all others that this would be worth trying on. */
      const likely = (isWorthIt: (family: State['families'][string]) => boolean) => {
        const all = Object.entries(families).toReversed();
        const sorted = all.toSorted(([, one], [, other]) => +isWorthIt(other) - +isWorthIt(one));
        return sorted.slice(0, 3).map(([id]) => id);
      };
      const name = `tokens-${(count += 1)}`;
      switch (intended.does) {
        case 'prune':
          return { kind: 'prune' };
        case 'exchange':
        case 'revoke code':
        case 'revoke client': {
          const family = pick(
            likely((each) => !each.codeSpent),
            intended.family,
          );
          if (family === null) return null;
          const as = sender(family, intended.byOther);
          if (intended.does === 'exchange') {
            return { kind: 'exchange', family, as, fault: intended.fault, name };
          }
          if (intended.does === 'revoke code') return { kind: 'revoke code', family, as };
          return { kind: 'revoke client', client: as };
        }
        case 'refresh':
        case 'revoke': {
          const family = pick(
            likely((each) => each.current !== null && !each.ended),
            intended.family,
          );
          if (family === null || families[family]?.current === null) return null;
          const all = Object.keys(accessTokens).filter((each) => accessTokens[each]?.family === family);
          const token = all.at(-1 - Math.min(intended.age, all.length - 1)) ?? '';
          const as = sender(family, intended.byOther);
          variants.set(name, intended.variant);
          return { kind: intended.does, family, token, as, fault: intended.fault, name };
        }
        case 'look':
        case 'revoke access':
          break;
      }
      const token = pick(Object.keys(accessTokens).toReversed(), intended.token);
      if (token === null) return null;
      if (intended.does === 'look') return { kind: 'look', token };
      const as = sender(accessTokens[token]?.family ?? '', intended.byOther);
      return { kind: 'revoke access', token, as };
    }
    const variants = new Map<string, number>();

    function offered(request: Request & { kind: 'refresh' | 'revoke' }): string {
      const token = tokens.get(request.token)?.refresh_token ?? '';
      if (request.fault === 'none') return token;
      const unknown = request.kind === 'refresh' ? UNKNOWN_TO_REFRESH : UNKNOWN;
      const ways = request.fault === 'unknown' ? unknown : USED;
      const way = pick(ways, variants.get(request.name) ?? 0);
      const other = Object.keys(now().accessTokens).findLast(
        (each) => now().accessTokens[each]?.family !== request.family,
      );
      const beside = {
        code: codes.get(request.family) ?? '',
        accessToken: tokens.get(request.token)?.access_token ?? '',
      };
      const parts = tokens.get(other ?? '')?.refresh_token ?? 'another.'.repeat(4);
      return way?.(token, parts, beside) ?? '';
    }

    async function post(
      node: RunningPortal,
      path: string,
      as: TestClient,
      form: Readonly<Record<string, string>>,
    ): Promise<Response> {
      const isPublic = as.secret === '';
      const basic = `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`;
      const headers: Record<string, string> = isPublic ? {} : { Authorization: basic };
      const body = new URLSearchParams({ ...form, ...(isPublic ? { client_id: as.id } : {}) });
      return fetch(`${node.url}${path}`, { method: 'POST', headers, body });
    }

    /** Tokens that were answered before keep their name: it is the name that the model is asked with. */
    function hold(name: string, answered: Tokens): void {
      const secretsOf = (of: Tokens) => `${of.access_token} ${of.refresh_token}`;
      const known = [...tokens].find(([, held]) => secretsOf(held) === secretsOf(answered));
      if (known === undefined) tokens.set(name, answered);
      else {
        sameAs.set(name, known[0]);
        seen.again += 1;
      }
    }
    const sameAs = new Map<string, string>();

    async function tokenAnswer(response: Response, name: string, error: string): Promise<Answer> {
      const body = (await response.json()) as Tokens & { error?: string };
      if (response.status === 200) hold(name, body);
      else expect(body).toMatchObject({ error: response.status === 401 ? 'invalid_client' : error });
      return response.status;
    }

    async function send(node: RunningPortal, request: Request): Promise<Answer> {
      const as = clients.get('as' in request ? request.as : '') ?? { id: '', secret: '' };
      const revoke = async (token: string) => (await post(node, '/oauth/revoke', as, { token })).status;
      switch (request.kind) {
        case 'exchange': {
          const code = codes.get(request.family) ?? '';
          const form = {
            grant_type: 'authorization_code',
            code: request.fault === 'unknown' ? changed(code) : code,
            redirect_uri: request.fault === 'redirect' ? `${REDIRECT_URI}/` : REDIRECT_URI,
            code_verifier: request.fault === 'verifier' ? changed(VERIFIER) : VERIFIER,
          };
          if (request.fault === 'missing') form.code_verifier = '';
          const response = await post(node, '/oauth/token', as, form);
          const error = request.fault === 'missing' ? 'invalid_request' : 'invalid_grant';
          return tokenAnswer(response, request.name, error);
        }
        case 'refresh': {
          const form = { grant_type: 'refresh_token', refresh_token: offered(request) };
          return tokenAnswer(await post(node, '/oauth/token', as, form), request.name, 'invalid_grant');
        }
        case 'revoke':
          return revoke(offered(request));
        case 'revoke access':
          return revoke(tokens.get(request.token)?.access_token ?? '');
        case 'revoke code':
          return revoke(codes.get(request.family) ?? '');
        case 'revoke client':
          // Of two at the same moment the second may find it done.
          await portal.server.clients
            .revoke(clients.get(request.client)?.id ?? '')
            .catch((error: unknown) => {
              if (!(error instanceof RegistrationError)) throw error;
            });
          return 200;
        case 'prune':
          await portal.server.prune();
          return 200;
        case 'look':
          break;
      }
      return look(node, tokens.get(request.token)?.access_token ?? '');
    }

    async function look(node: RunningPortal, token: string): Promise<Answer> {
      const introspected = await post(node, '/oauth/introspect', inspector, { token });
      const { active } = (await introspected.json()) as { active: boolean };
      // Together with other requests the two may be answered before and after one of them: the first decides.
      if (!isAlone) return active ? 'good' : 'dead';
      const { status } = await callApi(node, '/api/notes', token);
      expect({ active, status }).toEqual({ active, status: active ? 200 : 401 });
      return active ? 'good' : 'dead';
    }
    let isAlone = true;

    async function sendTogether(requests: readonly Request[], node: number): Promise<void> {
      isAlone = requests.length === 1;
      const before = states;
      const answers = await Promise.all(
        requests.map((request, index) => send(pick(nodes, node + index) ?? portal, request)),
      );
      const answered = requests.map((request) =>
        request.kind === 'refresh' ? { ...request, name: sameAs.get(request.name) ?? request.name } : request,
      );
      states = afterAllOf(states, answered, answers, lifetimes);
      if (states.length > 0) return;
      const asked = requests.map((request, index) => ({ request, answered: answers[index] }));
      throw new Error(`Not as specified: ${JSON.stringify({ asked, before })}`);
    }

    /** Nothing lives, and nothing died, but by what the model says. */
    async function lookAtAll(node: number): Promise<void> {
      for (const token of Object.keys(now().accessTokens).slice(-6)) {
        await sendTogether([{ kind: 'look', token }], node);
      }
    }

    await consent(0);
    await consent(1);
    for (const next of happenings) {
      if (next.what === 'consent') await consent(next.client);
      else if (next.what === 'time') {
        const { code, access, refresh, retry = code } = lifetimes;
        const ends = [code, access, refresh, retry].flatMap((end) => [end - 1, end, 1]);
        const seconds = pick([...ends, 1, 10, 3601, access + 3601, refresh + 3601], next.passes) ?? 0;
        clock.advance(seconds);
        states = states.map((state) => later(state, seconds));
      } else if (next.what === 'suspension') {
        await setActive(!now().active);
      } else {
        const requests = next.intents.map(requestFor).filter((request) => request !== null);
        if (requests.length === 0) continue;
        await sendTogether(requests, next.node);
        await lookAtAll(next.node + 1);
        seen.requests += requests.length;
        seen.together += requests.length > 1 ? 1 : 0;
      }
    }
    seen.issued += tokens.size;
    seen.ended += Object.values(now().families).filter(({ ended }) => ended).length;
    seen.alive += Object.keys(now().accessTokens).filter((token) => isGood(now(), token)).length;
    if (!now().active) await portal.restore(ADA);
  }

  const seen = { requests: 0, together: 0, issued: 0, again: 0, ended: 0, alive: 0 };

  // @shows AS-5.1, AS-5.2, AS-5.4, AS-5.5, AS-5.15, AS-5.16, AS-5.17, AS-5.18, AS-10.1, AS-18.1, AS-18.2, AS-18.3, AS-18.8
  test('whatever is asked in whatever order, also at the same moment: the answers, and what lives afterwards, are those of the rules', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`${HISTORIES} histories of grants, seed ${seed}\n`);
    await fc.assert(
      fc.asyncProperty(historyOf(lifetimes), async (happenings) => {
        // A history that failed may have left the person suspended.
        await portal.restore(ADA);
        ada = await portal.signedIn(ADA);
        await play(happenings);
      }),
      { numRuns: HISTORIES, seed },
    );
    process.stdout.write(`They were ${JSON.stringify(seen)}\n`);
    expect(Math.min(seen.together, seen.issued, seen.ended)).toBeGreaterThan(0);
    expect(seen.again > 0).toBe(lifetimes.retry !== undefined);
  });
});
