import {
  ADA,
  authorizationUrl,
  CHALLENGE,
  REDIRECT_URI,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './portal.ts';
import { isRedirect, type Visitor } from './visitor.ts';

/** The tokens that a client has received for one authorization. */
export interface Chain {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** How many times it received tokens. */
  readonly answered: number;
}

/** A request that was sent and is not answered yet. */
export type Use =
  | { readonly kind: 'exchange'; readonly code: string }
  | { readonly kind: 'refresh'; readonly token: string }
  | { readonly kind: 'revoke'; readonly chain: Chain };

/** How a step ended: with a response, with 503, or without a response. */
export type Step = 'answered' | 'unavailable' | 'cut off';

/**
 * A public client that uses one authorization after another. Each authorization begins with an
 * exchange, has some refreshes, and ends with a revocation. A request without a response stays
 * `pending`, and the next step repeats it.
 */
export interface Worker {
  chain: Chain | null;
  pending: Use | null;
  /** The authorizations whose revocation was confirmed. */
  readonly revoked: Chain[];
  step(): Promise<Step>;
  /** Sends a request. If the response is not 200 or 503, returns its status. */
  send(use: Use): Promise<Step | number>;
}

const REFRESHES = 5;

export async function createWorker(
  portal: RunningPortal,
  client: TestClient,
  url: string,
): Promise<Worker> {
  const visitor = await portal.signedIn(ADA);
  const at = { ...portal, url };

  async function post(
    path: string,
    form: Readonly<Record<string, string>>,
  ): Promise<Response | null> {
    const body = new URLSearchParams({ client_id: client.id, ...form });
    return fetch(`${url}${path}`, { method: 'POST', body }).catch(() => null);
  }

  async function code(): Promise<{ readonly code: string } | Step> {
    const answer = await consent(at, client, visitor);
    if (answer === null) return 'cut off';
    if (answer.status === 503) return comeBack(answer);
    const found = isRedirect(answer)
      ? new URL(answer.headers.get('location') ?? '', url).searchParams.get('code')
      : null;
    if (found === null)
      throw new Error(`The consent was answered ${answer.status}: ${await answer.text()}`);
    return { code: found };
  }

  async function send(use: Use): Promise<Step | number> {
    const response = await (use.kind === 'exchange'
      ? post('/oauth/token', {
          grant_type: 'authorization_code',
          code: use.code,
          redirect_uri: REDIRECT_URI,
          code_verifier: VERIFIER,
        })
      : use.kind === 'refresh'
        ? post('/oauth/token', { grant_type: 'refresh_token', refresh_token: use.token })
        : post('/oauth/revoke', { token: use.chain.refreshToken }));
    // Treat a truncated response as no response.
    const body = await response?.text().catch(() => null);
    if (response === null || body === null || body === undefined) return 'cut off';
    if (response.status === 503) return unavailable(new Response(body, response));
    if (response.status !== 200) return response.status;
    if (use.kind === 'revoke') {
      worker.revoked.push(use.chain);
      worker.chain = null;
    } else {
      const tokens = JSON.parse(body) as Tokens;
      const answered = use.kind === 'exchange' ? 1 : (worker.chain?.answered ?? 0) + 1;
      worker.chain = {
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token,
        answered,
      };
    }
    worker.pending = null;
    return 'answered';
  }

  const worker: Worker = {
    chain: null,
    pending: null,
    revoked: [],
    send,
    async step() {
      if (worker.pending === null) {
        const { chain } = worker;
        if (chain === null) {
          const issued = await code();
          if (typeof issued === 'string') return issued;
          worker.pending = { kind: 'exchange', code: issued.code };
        } else {
          worker.pending =
            chain.answered > REFRESHES
              ? { kind: 'revoke', chain }
              : { kind: 'refresh', token: chain.refreshToken };
        }
      }
      const { kind } = worker.pending;
      const step = await send(worker.pending);
      if (typeof step === 'number') throw new Error(`A ${kind} was answered with ${step}`);
      return step;
    },
  };
  return worker;
}

/** Checks a 503. An application gets JSON with an error code, and a browser gets a page. */
async function unavailable(response: Response): Promise<Step> {
  const body = (await response.clone().json()) as { readonly error?: unknown };
  if (typeof body.error !== 'string')
    throw new Error(`A 503 without an error code: ${JSON.stringify(body)}`);
  return comeBack(response);
}

async function comeBack(response: Response): Promise<Step> {
  if (response.headers.get('retry-after') !== null) return 'unavailable';
  throw new Error(`A 503 that does not say when to come back: ${await response.text()}`);
}

/**
 * Returns the response after the person allowed the request, or the response that came instead of
 * the consent screen. Returns null if the server was down.
 */
async function consent(
  portal: RunningPortal,
  client: TestClient,
  visitor: Visitor,
): Promise<Response | null> {
  try {
    const page = await visitor.get(authorizationUrl(portal, client, { code_challenge: CHALLENGE }));
    if (page.status !== 200) return page;
    return await visitor.submit(page, { decision: 'allow' });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
