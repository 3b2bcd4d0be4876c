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

/** The tokens of one authorization that its client has received. */
export interface Chain {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** How often tokens were received. */
  readonly answered: number;
}

/** A request that was sent and has no answer yet. */
export type Use =
  | { readonly kind: 'exchange'; readonly code: string }
  | { readonly kind: 'refresh'; readonly token: string }
  | { readonly kind: 'revoke'; readonly chain: Chain };

/** How a step ended: answered, told to come back (503), or cut off. */
export type Step = 'answered' | 'unavailable' | 'cut off';

/**
 * A public client that goes through one authorization after another: exchange, some refreshes,
 * revocation. A request that got no answer stays `pending`, and the next step sends it again.
 */
export interface Worker {
  chain: Chain | null;
  pending: Use | null;
  /** Authorizations whose revocation was confirmed. */
  readonly revoked: Chain[];
  step(): Promise<Step>;
  /** Sends a request; for an answer other than 200 and 503, returns the status. */
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
    // A truncated answer counts as none.
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

/** For an application a 503 is JSON with an error code; for a browser it is a page. */
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
 * The response after allowing, or the one in place of the consent screen; null if the server was
 * down.
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
