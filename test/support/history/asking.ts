import {
  authorizationUrl,
  CHALLENGE,
  REDIRECT_URI,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from '../portal.ts';
import { formOf, type Visitor } from '../visitor.ts';
import type { Asked, Ending, Operation, Recorder } from './recorder.ts';

/** An authorization, and the tokens that its client has. */
export interface Family {
  readonly name: string;
  readonly client: TestClient;
  readonly code: string;
  /** The tokens of all responses, with the newest last. */
  readonly tokens: Held[];
  /** Whether a request has ended the authorization, or may have ended it. */
  over: boolean;
}

export interface Held {
  readonly name: string;
  readonly access: string;
  readonly refresh: string;
}

/**
 * Which process to ask again after a 503. If the result of a use stays unknown for long, only the
 * process that got the use may still have the response.
 */
export type AsksAgain = 'any process' | 'the same process';

/** Sends requests to the processes of a server, and records each with its response. */
export interface Asking {
  /** Lets the person allow or deny the client's request. Returns null if there was no code. */
  authorize(
    visitor: Visitor,
    client: TestClient,
    decision: 'allow' | 'deny',
  ): Promise<Family | null>;
  /** Exchanges the code (null) or a refresh token, and keeps the tokens in the response. */
  use(family: Family, given: Held | null): Promise<void>;
  /**
   * Asks whether an access token is valid: through introspection, UserInfo, or an API of the
   * application.
   */
  look(family: Family, token: Held, url?: string): Promise<void>;
  /** Revokes a refresh token (RFC 7009). */
  revoke(family: Family, token: Held): Promise<void>;
  /** Revokes an access token (RFC 7009). */
  revokeAccess(family: Family, token: Held): Promise<void>;
  /**
   * Lets the person remove the client's access. `families` are the authorizations that this ends.
   */
  remove(visitor: Visitor, client: TestClient, families: readonly Family[]): Promise<void>;
  /** Revokes the client, as the console does. */
  revokeClient(client: TestClient, families: readonly Family[]): Promise<void>;
  /** How many times each unexpected response occurred, such as `500 of /oauth/token`. */
  readonly faults: Readonly<Record<string, number>>;
}

export interface AskingOptions {
  readonly portal: RunningPortal;
  readonly urls: readonly string[];
  readonly asksAgain: AsksAgain;
  readonly inspector: TestClient;
  readonly recorder: Recorder;
  readonly random: () => number;
  /** Called with each response, or with null if there was no connection. */
  readonly heard: (ending: Ending | null) => void;
}

/** The outcome of a request. `ending` is null if there was no connection. */
interface Answered {
  readonly ending: Ending | null;
  readonly body?: string;
  readonly location?: string | null;
  /** The name of its tokens, if an earlier response already contained them. */
  readonly known?: string;
}

type Endings = Readonly<Record<number, Ending>>;

/**
 * The minimum time that a client waits before it asks again, in milliseconds. The maximum is twice
 * as long.
 */
const PAUSE = 150;
/** How long a client waits for a response, in milliseconds. */
const PATIENCE = 60_000;

export function createAsking(options: AskingOptions): Asking {
  const { portal, urls, asksAgain, inspector, recorder, random, heard } = options;
  const faults: Record<string, number> = {};
  let names = 0;
  const nextName = () => String((names += 1));
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const anyProcess = () => pick(urls);

  function fault(what: string): 'lost' {
    faults[what] = (faults[what] ?? 0) + 1;
    return 'lost';
  }

  /** Sends a request. Only these statuses are expected responses. */
  async function send(url: string, init: RequestInit, endings: Endings): Promise<Answered> {
    const signal = AbortSignal.timeout(PATIENCE);
    return answerOf(url, endings, () => fetch(url, { ...init, signal }));
  }

  async function answerOf(
    url: string,
    endings: Endings,
    request: () => Promise<Response>,
  ): Promise<Answered> {
    try {
      const response = await request();
      const body = await response.text();
      const isUnavailable = response.status === 503 && response.headers.has('retry-after');
      const ending = isUnavailable ? 'unavailable' : endings[response.status];
      const location = response.headers.get('location');
      return {
        ending: ending ?? fault(`${response.status} of ${new URL(url).pathname}`),
        body,
        location,
      };
    } catch (error) {
      return { ending: isUnreachable(error) ? null : 'lost' };
    }
  }

  function post(
    client: TestClient,
    url: string,
    form: Readonly<Record<string, string>>,
    endings: Endings,
  ) {
    const { id, secret } = client;
    const isPublic = secret === '';
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const body = new URLSearchParams(isPublic ? { client_id: id, ...form } : form);
    return send(
      url,
      { method: 'POST', headers: isPublic ? {} : { Authorization: basic }, body },
      endings,
    );
  }

  function bearer(url: string, token: string): Promise<Answered> {
    return send(
      url,
      { headers: { Authorization: `Bearer ${token}` } },
      { 200: 'good', 401: 'dead' },
    );
  }

  /** Sends the request once, and records it. */
  async function recorded(
    operation: Pick<Operation, 'request' | 'families' | 'by'> & { readonly url: string | null },
    ask: () => Promise<Answered>,
  ): Promise<Answered> {
    const { url, ...about } = operation;
    const end = recorder.begin({
      ...about,
      node: url === null ? 'console' : `node ${urls.indexOf(url) + 1}`,
    });
    const answer = await ask();
    end(answer.ending, answer.known);
    heard(answer.ending);
    return answer;
  }

  /**
   * Repeats the request while the response is 503. If no process listens at the address, asks
   * another process.
   */
  async function insist(
    ask: (url: string) => Promise<Answered>,
    first = anyProcess(),
  ): Promise<Answered> {
    let url = first;
    let there = performance.now();
    for (;;) {
      const answer = await ask(url);
      if (answer.ending !== null && answer.ending !== 'unavailable') return answer;
      if (answer.ending !== null) there = performance.now();
      else if (performance.now() - there > PATIENCE)
        throw new Error('No process was there for a minute');
      await new Promise((resolve) => setTimeout(resolve, PAUSE * (1 + random())));
      if (answer.ending === null || asksAgain === 'any process') url = anyProcess();
    }
  }

  const inspections: Readonly<Record<string, (url: string, token: string) => Promise<Answered>>> = {
    async introspection(url, token) {
      const answer = await post(inspector, `${url}/oauth/introspect`, { token }, { 200: 200 });
      if (answer.ending !== 200) return answer;
      return {
        ending: (JSON.parse(answer.body ?? '') as { active: boolean }).active ? 'good' : 'dead',
      };
    },
    userinfo: (url, token) => bearer(`${url}/oauth/userinfo`, token),
    'token()': (url, token) => bearer(`${url}/api/whoami`, token),
  };

  async function revokeByToken(
    request: Asked,
    { name, client }: Family,
    token: string,
  ): Promise<void> {
    await insist((url) =>
      recorded({ request, families: [name], by: 'revocation', url }, () =>
        post(client, `${url}/oauth/revoke`, { token }, { 200: 200, 401: 401 }),
      ),
    );
  }

  /** Keeps the tokens of a response, unless they are known already. */
  function hold(family: Family, name: string, { body = '' }: Answered): Pick<Answered, 'known'> {
    const { access_token: access, refresh_token: refresh } = JSON.parse(body) as Tokens;
    const known = family.tokens.find((each) => each.access === access && each.refresh === refresh);
    if (known !== undefined) return { known: known.name };
    family.tokens.push({ name, access, refresh });
    return {};
  }

  return {
    faults,

    async authorize(visitor, client, decision) {
      const screen = await insist((url) => {
        const asked = authorizationUrl({ ...portal, url }, client, { code_challenge: CHALLENGE });
        return answerOf(asked, { 200: 200 }, () => visitor.get(asked));
      });
      if (screen.ending !== 200) return null;
      const { fields } = formOf(screen.body ?? '');
      const name = `authorization ${nextName()}`;
      const request: Asked = { kind: decision, family: name, client: client.id };
      let code: string | null = null;
      await insist((url) =>
        recorded({ request, families: [name], by: 'consent', url }, async () => {
          const address = `${url}/oauth/authorize`;
          const form = { ...fields, decision };
          const endings = { 302: 200, 303: 200, 400: 400 };
          const answer = await answerOf(address, endings, () => visitor.post(address, form));
          if (answer.ending !== 200) return answer;
          const told = new URL(answer.location ?? '', url).searchParams;
          code = told.get('code');
          const isAsDecided =
            decision === 'allow' ? code !== null : told.get('error') === 'access_denied';
          return { ending: isAsDecided ? 200 : fault('another redirect of /oauth/authorize') };
        }),
      );
      return code === null ? null : { name, client, code, tokens: [], over: false };
    },

    async use(family, given) {
      const { client } = family;
      const own = { family: family.name, as: client.id, fault: 'none' } as const;
      const form: Record<string, string> =
        given === null
          ? { code: family.code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
          : { refresh_token: given.refresh };
      form['grant_type'] = given === null ? 'authorization_code' : 'refresh_token';
      const answer = await insist((url) => {
        const name = nextName();
        const request: Asked =
          given === null
            ? { kind: 'exchange', ...own, name }
            : { kind: 'refresh', ...own, token: given.name, name };
        return recorded({ request, families: [family.name], by: 'token', url }, async () => {
          const answered = await post(client, `${url}/oauth/token`, form, {
            200: 200,
            400: 400,
            401: 401,
          });
          return answered.ending === 200
            ? { ...answered, ...hold(family, name, answered) }
            : answered;
        });
      });
      if (answer.ending !== 200) family.over = true;
    },

    async look({ name }, { name: token, access }, at) {
      const [by, ask] = pick(Object.entries(inspections));
      const request: Asked = { kind: 'look', token };
      await insist(
        (url) => recorded({ request, families: [name], by, url }, () => ask(url, access)),
        at,
      );
    },

    async revoke(family, { name: token, refresh }) {
      family.over = true;
      const { name, client } = family;
      const request: Asked = {
        kind: 'revoke',
        family: name,
        token,
        as: client.id,
        fault: 'none',
        name: '',
      };
      await revokeByToken(request, family, refresh);
    },

    async revokeAccess(family, { name: token, access }) {
      await revokeByToken({ kind: 'revoke access', token, as: family.client.id }, family, access);
    },

    async remove(visitor, client, families) {
      for (const family of families) family.over = true;
      const request: Asked = { kind: 'remove', client: client.id };
      const about = { request, families: families.map(({ name }) => name), by: 'page' };
      await insist(async (url) => {
        const address = `${url}/oauth/applications`;
        const page = await answerOf(address, { 200: 200 }, () => visitor.get(address));
        const form = page.body?.split('<form').find((each) => each.includes(`"${client.id}"`));
        if (page.ending !== 200 || form === undefined) return page;
        const { fields } = formOf(`<form${form}`);
        return recorded({ ...about, url }, () =>
          answerOf(address, { 303: 200 }, () => visitor.post(address, fields)),
        );
      });
    },

    async revokeClient({ id }, families) {
      for (const family of families) family.over = true;
      const request: Asked = { kind: 'revoke client', client: id };
      const about = { request, families: families.map(({ name }) => name), by: 'console' };
      await recorded({ ...about, url: null }, async () => {
        try {
          await portal.server.clients.revoke(id);
          return { ending: 200 };
        } catch (error) {
          if (!portal.application.database.isUnavailable(error)) throw error;
          return { ending: 'lost' };
        }
      });
    },
  };
}

/** No process listened, so nothing was sent. */
function isUnreachable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
