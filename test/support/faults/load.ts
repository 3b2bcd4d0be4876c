import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createVisitor, locationOf, type Visitor } from '../visitor.ts';
import { ADA, PHONE, SHOP, type OperatedInstallation } from './installation.ts';

/** The load on an installation. In each round, people and programs do a little of everything. */
export interface Load {
  /**
   * Runs one round: Ada's phone refreshes, Ada signs in to the shop, and the phone calls the API.
   * Returns the three statuses.
   */
  round(): Promise<readonly number[]>;
  /** The phone's refresh tokens, with the newest last. All tokens except the newest are used up. */
  readonly spent: readonly string[];
  /** A refresh token of the phone from an authorization that was revoked. */
  readonly deadToken: string;
  /** Refreshes with this token, as the phone does. */
  refresh(token: string): Promise<Answer>;
  /** Guesses a client's secret, as an attacker does. Returns the status. */
  guess(): Promise<number>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The addresses of the callers, as the proxy sees them. Each caller has a different one. */
export const FROM = { phone: '127.0.0.11', shop: '127.0.0.12', stranger: '127.0.0.66' } as const;

export async function startLoad(installation: OperatedInstallation): Promise<Load> {
  const { url, clients } = installation;
  const visitor = createVisitor(url);
  await visitor.submit(await visitor.get('/login'), {
    identifier: ADA.email,
    password: ADA.password,
  });
  const dead = await phoneTokens(visitor, installation);
  await post(`${url}/oauth/revoke`, FROM.phone, {
    client_id: clients.phone.id,
    token: dead.refresh_token,
  });
  const tokens = await phoneTokens(visitor, installation);
  const refreshTokens = [tokens.refresh_token];
  let accessToken = tokens.access_token;

  const refresh = (token: string) =>
    post(`${url}/oauth/token`, FROM.phone, {
      grant_type: 'refresh_token',
      client_id: clients.phone.id,
      refresh_token: token,
    });

  async function phoneRefreshes(): Promise<number> {
    const { status, body } = await refresh(refreshTokens.at(-1) ?? '');
    if (status === 200) {
      const next = JSON.parse(body) as PhoneTokens;
      refreshTokens.push(next.refresh_token);
      accessToken = next.access_token;
    }
    return status;
  }

  /**
   * Signs in to the shop, up to the exchange of the code. If the sign-in gives no code, returns the
   * status of the failed step.
   */
  async function shopSignsIn(): Promise<number> {
    const asked = { clientId: clients.shop.id, redirectUri: SHOP };
    const code = await authorize(visitor, url, asked).catch((error: unknown) => {
      if (error instanceof NoCode) return error;
      throw error;
    });
    if (code instanceof NoCode) return code.status;
    const form = { grant_type: 'authorization_code', redirect_uri: SHOP, ...code };
    return (await post(`${url}/oauth/token`, FROM.shop, form, clients.shop)).status;
  }

  return {
    spent: refreshTokens,
    deadToken: dead.refresh_token,
    refresh,
    async guess() {
      const guessed = { id: randomBytes(6).toString('hex'), secret: 'guessed' };
      const form = { grant_type: 'client_credentials' };
      return (await post(`${url}/oauth/token`, FROM.stranger, form, guessed)).status;
    },
    async round() {
      const phone = await phoneRefreshes();
      const shop = await shopSignsIn();
      const headers = { Authorization: `Bearer ${accessToken}` };
      const api = await send(`${url}/api/notes`, FROM.phone, { headers });
      return [phone, shop, api.status];
    },
  };
}

interface PhoneTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function phoneTokens(
  visitor: Visitor,
  { url, clients: { phone } }: OperatedInstallation,
): Promise<PhoneTokens> {
  const code = await authorize(visitor, url, { clientId: phone.id, redirectUri: PHONE });
  const form = {
    grant_type: 'authorization_code',
    client_id: phone.id,
    redirect_uri: PHONE,
    ...code,
  };
  const { status, body } = await post(`${url}/oauth/token`, FROM.phone, form);
  if (status !== 200) throw new Error(`The phone got no tokens: ${status} ${body}`);
  return JSON.parse(body) as PhoneTokens;
}

class NoCode extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`No code: ${status}`);
    this.status = status;
  }
}

async function authorize(
  visitor: Visitor,
  url: string,
  { clientId, redirectUri }: { readonly clientId: string; readonly redirectUri: string },
): Promise<{ readonly code: string; readonly code_verifier: string }> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid notes:read',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const consent = await visitor.visit(`${url}/oauth/authorize?${query}`);
  if (consent.status !== 200) throw new NoCode(consent.status);
  const answer = await visitor.submit(consent, { decision: 'allow' });
  const code = answer.headers.has('location') ? locationOf(answer).searchParams.get('code') : null;
  if (code === null) throw new NoCode(answer.status);
  return { code, code_verifier: verifier };
}

function post(
  url: string,
  from: string,
  form: Readonly<Record<string, string>>,
  client: { readonly id: string; readonly secret: string } | null = null,
): Promise<Answer> {
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    ...(client === null
      ? {}
      : {
          Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        }),
  };
  return send(url, from, { method: 'POST', headers, body: new URLSearchParams(form).toString() });
}

/** Sends a request from a chosen address, which `fetch` does not support. */
async function send(
  url: string,
  from: string,
  init: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<Answer> {
  const { method = 'GET', headers = {}, body = '' } = init;
  const asking = request(url, { method, headers, localAddress: from, agent: false });
  asking.end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}
