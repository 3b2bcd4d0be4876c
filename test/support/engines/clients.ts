import { setTimeout } from 'node:timers/promises';
import {
  ADA,
  authorizationUrl,
  callApi,
  CHALLENGE,
  REDIRECT_URI,
  registerClient,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from '../portal.ts';
import { isRedirect, type Visitor } from '../visitor.ts';

/** The promises that hold whatever happens to the database: how often each was broken. */
const PROMISES = {
  answeredTwice: 'answered twice',
  aliveAfterReplay: 'alive after a replay',
  lostRevocations: 'lost revocations',
  lostAnsweredTokens: 'lost answered tokens',
  refusedAfter503: 'refused after a 503',
  other5xx: 'other 5xx',
} as const;
type PromiseName = keyof typeof PROMISES;

export interface Clients {
  /** Waits until so many uses more were answered. */
  answered(count: number): Promise<void>;
  /** Waits until so many more were told to come back. */
  unavailable(count: number): Promise<void>;
  /** Waits until so many authorizations more have come to their end. */
  authorizations(count: number): Promise<void>;
  /** Lets every authorization come to its end, and looks at the last of them again. */
  stop(): Promise<Verdict>;
}

export interface Verdict {
  /** What was broken, each as a line. */
  readonly texts: readonly string[];
  /** One line with all counts. */
  readonly line: string;
}

/** How long a client waits that was told to come back, in milliseconds: shorter than `Retry-After` asks for. */
const PAUSE = 100;
/** The last so many authorizations of each client are looked at in the end. */
const LOOKED_AT = 40;

/**
 * Public clients that exchange codes, refresh, revoke, use tokens again, and use them at several places at once. Each request goes to
 * another process than the one before, and comes back until it is answered with something else than 503.
 */
export async function startClients({
  portal,
  urls,
  clients: count = 6,
}: {
  readonly portal: RunningPortal;
  readonly urls: readonly string[];
  readonly clients?: number;
}): Promise<Clients> {
  const client = await registerClient(portal, { public: true });
  const texts: string[] = [];
  const broken: Record<PromiseName, number> = {
    answeredTwice: 0,
    aliveAfterReplay: 0,
    lostRevocations: 0,
    lostAnsweredTokens: 0,
    refusedAfter503: 0,
    other5xx: 0,
  };
  const counts = { answered: 0, unavailable: 0, authorizations: 0 };
  const state = { isOver: false };
  const waiting = new Set<() => void>();
  const saw: Run['saw'] = (what) => {
    counts[what] += 1;
    for (const look of waiting) look();
  };
  const broke: Run['broke'] = (promise, how) => {
    broken[promise] += 1;
    texts.push(`${PROMISES[promise]}: ${how}`);
  };
  const people: Person[] = [];
  // Each signs in: one after another, or the server takes so many of one account at once for guesses.
  for (let index = 0; index < count; index += 1) {
    people.push(createPerson({ portal, client, urls, saw, broke }, await portal.signedIn(ADA), index));
  }
  const work = async (person: Person) => {
    while (!state.isOver) {
      await person.authorize();
      saw('authorizations');
    }
  };
  const working = Promise.all(people.map(work));
  working.catch(() => {});
  const more = (what: keyof typeof counts) => async (number: number) => {
    const enough = counts[what] + number;
    const there = Promise.withResolvers<unknown>();
    const look = () => {
      if (counts[what] >= enough) there.resolve(null);
    };
    waiting.add(look);
    await Promise.race([there.promise, working]);
    waiting.delete(look);
  };
  return {
    answered: more('answered'),
    unavailable: more('unavailable'),
    authorizations: more('authorizations'),
    async stop() {
      state.isOver = true;
      await working;
      await Promise.all(people.map((person) => person.lookAgain()));
      const told = Object.entries(PROMISES).map(([name, text]) => `${text} ${broken[name as PromiseName]}`);
      const { answered, unavailable, authorizations } = counts;
      const line = `${answered} uses in ${authorizations} authorizations answered, ${unavailable} told to come back; ${told.join(', ')}`;
      return { texts, line };
    },
  };
}

interface Run {
  readonly portal: RunningPortal;
  readonly client: TestClient;
  readonly urls: readonly string[];
  saw(what: 'answered' | 'unavailable' | 'authorizations'): void;
  broke(promise: PromiseName, how: string): void;
}

interface Person {
  /** One authorization, from consent to its end. */
  authorize(): Promise<void>;
  /** Looks at the last authorizations again: what was answered is true. */
  lookAgain(): Promise<void>;
}

interface Answer {
  readonly response: Response;
  readonly body: string;
  /** Whether it was told to come back before. */
  readonly cameBack: boolean;
}

/** What became of an authorization, and the tokens that were answered last. */
interface Known {
  readonly tokens: Tokens;
  /** The promise that is broken if they live; null if they have to. */
  readonly dead: 'aliveAfterReplay' | 'lostRevocations' | null;
}

/** How authorizations end, in turns. */
const ENDS = ['revoked', 'used again', 'used at once', 'left'] as const;

function createPerson(run: Run, visitor: Visitor, index: number): Person {
  const { portal, client, urls } = run;
  let turn = index;
  let authorizations = index;
  const known: Known[] = [];
  const nextUrl = () => urls[(turn += 1) % urls.length] ?? '';

  /** Asks until the answer is another than 503. */
  async function ask(what: string, send: (url: string) => Promise<Response>): Promise<Answer> {
    for (let cameBack = false; ; cameBack = true) {
      const response = await send(nextUrl());
      const body = await response.clone().text();
      if (response.status !== 503) {
        if (response.status >= 500) run.broke('other5xx', `${what} was answered ${response.status}`);
        run.saw('answered');
        return { response, body, cameBack };
      }
      if (response.headers.get('retry-after') === null)
        throw new Error('A 503 does not say when to come back');
      run.saw('unavailable');
      await setTimeout(PAUSE);
    }
  }

  /** What a client is told that had every right to another answer. */
  function refused(what: string, { response, body, cameBack }: Answer): void {
    if (response.status >= 500) return;
    const told = /"error":"\w+"/.exec(body)?.[0] ?? response.headers.get('location') ?? '';
    run.broke(
      cameBack ? 'refusedAfter503' : 'lostAnsweredTokens',
      `${what} was answered ${response.status} ${told}`,
    );
  }

  const post = (path: string, form: Readonly<Record<string, string>>) => (url: string) =>
    fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams({ client_id: client.id, ...form }) });

  /** The person's answer, at one place; the parameters with which the client is sent back. */
  async function consent(decision: 'allow' | 'deny'): Promise<URLSearchParams | null> {
    const page = await ask('an authorization request', (url) =>
      visitor.get(authorizationUrl({ ...portal, url }, client, { code_challenge: CHALLENGE })),
    );
    if (page.response.status !== 200) {
      refused('an authorization request', page);
      return null;
    }
    const answer = await ask(`a person who answers '${decision}'`, () =>
      visitor.submit(page.response, { decision }),
    );
    if (isRedirect(answer.response)) {
      const back = new URL(answer.response.headers.get('location') ?? '', portal.url);
      if (back.href.startsWith(REDIRECT_URI)) return back.searchParams;
    }
    refused(`a person who answers '${decision}'`, answer);
    return null;
  }

  /** Uses something that is good once, at so many places at once: one of them is answered with tokens. */
  async function use(
    what: string,
    form: Readonly<Record<string, string>>,
    places = 1,
  ): Promise<Tokens | null> {
    const answers = await Promise.all(
      Array.from({ length: places }, () => ask(`${what} at ${places} places`, post('/oauth/token', form))),
    );
    const [first, ...others] = answers.filter(({ response }) => response.status === 200);
    if (others.length > 0) run.broke('answeredTwice', `${what} at ${places} places`);
    if (first !== undefined) return JSON.parse(first.body) as Tokens;
    const told = answers.find(({ cameBack }) => cameBack) ?? answers[0];
    if (told !== undefined) refused(`${what} at ${places} places`, told);
    return null;
  }

  const exchange = (code: string, places: number) =>
    use(
      'a code',
      { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
      places,
    );
  const refresh = ({ refresh_token: token }: Tokens, places = 1) =>
    use('a refresh token', { grant_type: 'refresh_token', refresh_token: token }, places);

  /** Whether an access token opens the API, at every process. */
  async function opens({ access_token: token }: Tokens): Promise<readonly boolean[]> {
    const answers: boolean[] = [];
    for (const _ of urls) {
      const { response } = await ask('a call', (url) => callApi({ ...portal, url }, '/api/whoami', token));
      answers.push(response.status === 200);
    }
    return answers;
  }

  async function requireDead({ tokens, dead }: Known & { readonly dead: NonNullable<Known['dead']> }) {
    if ((await opens(tokens)).includes(true)) run.broke(dead, 'an access token');
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const { response } = await ask('a refresh token of before', post('/oauth/token', form));
    if (response.status === 200) run.broke(dead, 'a refresh token');
  }

  async function end(tokens: Tokens, before: Tokens, how: (typeof ENDS)[number]): Promise<Known | null> {
    switch (how) {
      case 'revoked': {
        const { response } = await ask(
          'a revocation',
          post('/oauth/revoke', { token: tokens.refresh_token }),
        );
        if (response.status !== 200) throw new Error(`A revocation was answered ${response.status}`);
        return { tokens, dead: 'lostRevocations' };
      }
      case 'used again': {
        const form = { grant_type: 'refresh_token', refresh_token: before.refresh_token };
        const { response } = await ask('a used refresh token', post('/oauth/token', form));
        if (response.status === 200) run.broke('answeredTwice', 'a used refresh token');
        return { tokens, dead: 'aliveAfterReplay' };
      }
      case 'used at once': {
        const successor = await refresh(tokens, 2 + (turn % 3));
        return successor && { tokens: successor, dead: 'aliveAfterReplay' };
      }
      case 'left':
        break;
    }
    return { tokens, dead: null };
  }

  return {
    async authorize() {
      authorizations += 1;
      if (authorizations % 6 === 0) {
        const back = await consent('deny');
        if (back !== null && back.get('error') !== 'access_denied') {
          run.broke('refusedAfter503', `a person who denied: ${back.toString()}`);
        }
      }
      const code = (await consent('allow'))?.get('code') ?? null;
      if (code === null) return;
      const places = authorizations % 8 === 0 ? 3 : 1;
      const first = await exchange(code, places);
      if (first === null) return;
      let ended: Known | null;
      if (places > 1) {
        ended = { tokens: first, dead: 'aliveAfterReplay' };
      } else {
        const second = await refresh(first);
        if (second === null) return;
        if ((await opens(second)).includes(false)) run.broke('lostAnsweredTokens', 'an access token');
        const third = await refresh(second);
        if (third === null) return;
        ended = await end(third, second, ENDS[authorizations % ENDS.length] ?? 'left');
      }
      if (ended === null) return;
      if (ended.dead !== null) await requireDead({ ...ended, dead: ended.dead });
      known.push(ended);
    },
    async lookAgain() {
      for (const { tokens, dead } of known.splice(0).slice(-LOOKED_AT)) {
        if (dead !== null) await requireDead({ tokens, dead });
        else if ((await opens(tokens)).includes(false))
          run.broke('lostAnsweredTokens', 'an access token, in the end');
        else await refresh(tokens);
      }
    },
  };
}
