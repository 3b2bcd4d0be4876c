import { listen, startApplication } from '@portico/kit';
import { openDatabase, authorizationServerOf } from 'portico';
import {
  ADA,
  exchangeCode,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  requestToken,
  type RunningPortal,
  type TestClient,
  type Tokens,
  VERIFIER,
} from '../portal.ts';
import { freePort } from '../free-port.ts';
import type { Visitor } from '../visitor.ts';
import { createGatedStore, type GatedStore, type Held, type Place } from './gated-store.ts';
import type { Trace, TraceStep } from './trace.ts';

/**
 * Two servers on one database. Their statements are sent one by one, as in a behaviour of the
 * model.
 */
export interface Stage {
  /**
   * Follows the trace. Returns the first step whose result differs from the model, with that
   * result. Returns null if all results match.
   */
  play(trace: Trace): Promise<string | null>;
  close(): Promise<void>;
}

export interface StageOptions {
  /**
   * The portal that signs people in, registers clients, and checks tokens. The test does not stop
   * its statements.
   */
  readonly portal: RunningPortal;
  readonly clock: { advance(seconds: number): void };
  /** The configured times, in seconds. Windows and lifetimes pass when the clock moves. */
  readonly window: number;
}

interface Node {
  readonly url: string;
  readonly store: GatedStore;
  close(): Promise<void>;
}

/** A request that was sent. */
interface Sent {
  readonly node: string;
  readonly response: Promise<{ readonly status: number; readonly tokens: Tokens | null }>;
  held: Held | null;
  answer: { readonly status: number; readonly tokens: Tokens | null } | null;
}

const FIRST = 100;
/** A time that is longer than any lifetime plus the hour after which a row is removed. */
const LONG = 400 * 86_400;

/** The statement at which a request waits, for each place of a request in the model. */
const HELD_AT: Readonly<Record<string, Place>> = {
  read: 'read',
  claim: 'claim',
  commit: 'claim',
  again: 'again',
  replay: 'replay',
  end: 'revocation',
  write: 'revocation',
  burn: 'burn',
  doubt: 'question',
  settle: 'question',
  'last word': 'last word',
};

/** The status for each final place of a request in the model. */
const STATUS: Readonly<Record<string, number>> = {
  200: 200,
  refused: 400,
  'replay refused': 400,
  401: 401,
  503: 503,
  kept: 503,
};

/**
 * The outcome that a step gives to the stopped statement. If a claim of the model locks the row, it
 * waits here until it commits.
 */
const GOING = {
  'not sent': 'not sent',
  'give up': 'not sent',
  'commit unheard': 'unheard',
  'claim on its way': 'on its way',
} as const;

export async function startStage({ portal, clock, window }: StageOptions): Promise<Stage> {
  const inspector = await registerClient(portal, {
    redirectUris: [],
    scopes: [],
    grants: ['introspection'],
  });
  const visitor = await portal.signedIn(ADA);
  const url = portal.env['DATABASE_URL'] ?? '';
  const directory = portal.env['STORAGE_DIR'] ?? '/';
  const nodes = new Map<string, Node>([
    ['n1', await startNode()],
    ['n2', await startNode()],
  ]);

  async function startNode(): Promise<Node> {
    const inner = openDatabase(url, { directory });
    const store = createGatedStore(inner);
    const port = await freePort();
    const env = { ...portal.env, PORT: String(port), PUBLIC_URL: portal.url };
    const application = await startApplication(
      { ...portal.definition, database: store.database },
      { env },
    );
    const running = await listen(application, { port, hostname: '127.0.0.1' });
    // Load the lazy modules before any statement is stopped.
    authorizationServerOf(application);
    await fetch(`http://localhost:${port}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: '' }),
    });
    return {
      url: `http://localhost:${port}`,
      store,
      async close() {
        store.silence();
        await running.close();
        await application.close();
        await inner.close();
      },
    };
  }

  const nodeOf = (name: string): Node => {
    const node = nodes.get(name);
    if (node === undefined) throw new Error(`There is no node ${name}`);
    return node;
  };

  async function play(trace: Trace): Promise<string | null> {
    const played = createPlay(trace, {
      client: await registerClient(portal),
      other: await registerClient(portal),
      visitor,
    });
    try {
      await played.begin();
      for (const [index, step] of trace.steps.entries()) {
        const difference = await played.take(step);
        if (difference !== null)
          return `step ${index + 1}, ${step.does} of ${step.request}: ${difference}`;
      }
      return null;
    } finally {
      for (const { store } of nodes.values()) store.silence();
      await portal.restore(ADA);
    }
  }

  function createPlay(
    trace: Trace,
    who: { client: TestClient; other: TestClient; visitor: Visitor },
  ) {
    const { client, other } = who;
    const sent = new Map<number, Sent>();
    const late = new Map<number, Held>();
    const tokens = new Map<number, Tokens>();
    let code = '';

    /** Continues a request and listens on its node, until the request is stopped or answered. */
    async function goOn(request: Sent, begin: () => void): Promise<void> {
      const { store } = nodeOf(request.node);
      const listening = store.listen();
      begin();
      request.held = null;
      const outcome = await Promise.race([
        listening,
        request.response.then((answer) => ({ answer })),
      ]);
      if ('answer' in outcome) request.answer = outcome.answer;
      else request.held = outcome;
    }

    function send(step: TraceStep): Promise<Response> {
      const [node, offer, by] = step.about as readonly [string, number, string];
      const at = { ...portal, url: nodeOf(node).url };
      const as = by === 'other' ? other : client;
      const refreshToken = tokens.get(offer)?.refresh_token ?? '';
      if (step.does === 'revoke') {
        const basic = `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`;
        const body = new URLSearchParams({ token: refreshToken });
        return fetch(`${at.url}/oauth/revoke`, {
          method: 'POST',
          headers: { Authorization: basic },
          body,
        });
      }
      if (offer !== 0)
        return requestToken(at, as, { grant_type: 'refresh_token', refresh_token: refreshToken });
      const verifier = by === 'wrong' ? `${VERIFIER.slice(1)}A` : VERIFIER;
      return exchangeCode(at, as, code, { code_verifier: verifier, redirect_uri: REDIRECT_URI });
    }

    async function beginRequest(step: TraceStep): Promise<void> {
      const [node] = step.about as readonly [string];
      const response = Promise.withResolvers<Response>();
      const request: Sent = {
        node,
        held: null,
        answer: null,
        response: response.promise.then(async (answered) => {
          const text = await answered.text();
          const isTokens = answered.status === 200 && text.startsWith('{');
          return {
            status: answered.status,
            tokens: isTokens ? (JSON.parse(text) as Tokens) : null,
          };
        }),
      };
      // A killed node does not answer any request.
      request.response.catch(() => {});
      sent.set(step.request, request);
      await goOn(request, () => response.resolve(send(step)));
    }

    async function happens(step: TraceStep): Promise<void> {
      const [subject] = step.about;
      const events: Readonly<Record<string, () => unknown>> = {
        suspend: () => portal.suspend(ADA),
        restore: () => portal.restore(ADA),
        'revoke client': () => portal.server.clients.revoke(client.id),
        'revoke access': () => revokeAccess(tokens.get(Number(subject))?.access_token ?? ''),
        'close window': () => clock.advance(window),
        expire: () => clock.advance(LONG),
        'prune reads': () => {},
        'prune removes': () => portal.server.prune(),
        arrive: () => late.get(step.request)?.deliver(),
        vanish: () => {},
        crash: () => crash(String(subject)),
      };
      const event = events[step.does];
      if (event === undefined) throw new Error(`Unknown step: ${step.does}`);
      await event();
    }

    async function revokeAccess(token: string): Promise<void> {
      const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
      const body = new URLSearchParams({ token });
      await fetch(`${portal.url}/oauth/revoke`, {
        method: 'POST',
        headers: { Authorization: basic },
        body,
      });
    }

    async function crash(name: string): Promise<void> {
      const node = nodeOf(name);
      node.store.kill();
      const own = [...sent.values()].filter(
        (request) => request.node === name && request.answer === null,
      );
      await Promise.allSettled(own.map(({ response }) => response));
      for (const request of own) sent.forEach((each, key) => each === request && sent.delete(key));
      await node.close();
      nodes.set(name, await startNode());
    }

    /**
     * Releases the statement of the request. A claim that has locked the row only commits later.
     */
    async function step(step: TraceStep): Promise<void> {
      const request = sent.get(step.request);
      const held = request?.held;
      if (request === undefined || held === null || held === undefined)
        throw new Error('it is not held any more');
      if (step.does === 'claim' && step.at === 'commit') return;
      if (step.does === 'claim on its way') late.set(step.request, held);
      const how = Object.hasOwn(GOING, step.does) ? GOING[step.does as keyof typeof GOING] : 'done';
      await goOn(request, () => held.go(how));
    }

    /** Returns the difference from the model. */
    async function difference({
      does,
      request,
      at,
      token,
      good,
    }: TraceStep): Promise<string | null> {
      const one = sent.get(request);
      if (one !== undefined && !isEvent(does)) {
        const place = HELD_AT[at];
        const is =
          one.answer === null
            ? `held at ${one.held?.place ?? 'nothing'}`
            : `answered ${one.answer.status}`;
        const should = place === undefined ? `answered ${STATUS[at] ?? at}` : `held at ${place}`;
        if (is !== should) return `it is ${is}, and ${should} in the model (${at})`;
        const answered = one.answer?.tokens ?? null;
        if (answered !== null) {
          const known = tokens.get(token);
          if (known === undefined) {
            const others = [...tokens].filter(
              ([, each]) => each.refresh_token === answered.refresh_token,
            );
            if (others.length > 0)
              return `it was answered with the tokens of ${others[0]?.[0]}, not with new ones`;
            tokens.set(token, answered);
          } else if (
            known.access_token !== answered.access_token ||
            known.refresh_token !== answered.refresh_token
          ) {
            return `it was not answered with the tokens of ${token}`;
          }
        }
      }
      const isGood = await Promise.all(
        [...tokens.values()].map((each, index) => look(each, index)),
      );
      const alive = [...tokens.keys()].filter((_, index) => isGood[index]);
      const should = [...tokens.keys()].filter((each) => good.includes(each));
      return String(alive) === String(should)
        ? null
        : `[${alive.join()}] are good, and [${should.join()}] in the model`;
    }

    async function look({ access_token: token }: Tokens, index: number): Promise<boolean> {
      // Ask both nodes, because one process must not remember anything that the other has ended.
      const at = nodeOf(index % 2 === 0 ? 'n1' : 'n2').url;
      const basic = `Basic ${Buffer.from(`${inspector.id}:${inspector.secret}`).toString('base64')}`;
      const body = new URLSearchParams({ token });
      const response = await fetch(`${at}/oauth/introspect`, {
        method: 'POST',
        headers: { Authorization: basic },
        body,
      });
      return ((await response.json()) as { active: boolean }).active;
    }

    return {
      async begin() {
        code = await obtainCode(portal, client, who.visitor);
        if (trace.start === 'code') return;
        const response = await exchangeCode(portal, client, code);
        tokens.set(FIRST, (await response.json()) as Tokens);
      },
      async take(given: TraceStep): Promise<string | null> {
        if (given.does === 'use' || given.does === 'revoke') await beginRequest(given);
        else if (isEvent(given.does)) await happens(given);
        else await step(given);
        return difference(given);
      },
    };
  }

  return {
    play,
    async close() {
      for (const node of nodes.values()) await node.close();
    },
  };
}

/** Steps that do not belong to a request. */
const EVENTS: readonly string[] = [
  'suspend',
  'restore',
  'revoke client',
  'revoke access',
  'close window',
  'expire',
  'prune reads',
  'prune removes',
  'arrive',
  'vanish',
  'crash',
];

const isEvent = (does: string): boolean => EVENTS.includes(does);
