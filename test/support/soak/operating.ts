import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { doAt, formDoing, PAGES } from '../administration.ts';
import { GRACE, REDIRECT_URI, VERIFIER } from '../portal.ts';
import { createVisitor, locationOf, type Visitor } from '../visitor.ts';
import {
  BATCH,
  consentOf,
  expectStatus,
  inBatches,
  requestOf,
  visitSignedIn,
  type Door,
  type Path,
  type Steering,
} from './path.ts';
import type { Soaked } from './soak.ts';

/** The paths of operators. Each path runs `times` calls, and each call is several requests. */
export const OPERATING: Readonly<
  Record<'administration' | 'health' | 'audit' | 'telemetry' | 'ID tokens', Door>
> = { administration, health, audit, telemetry, 'ID tokens': idTokens };

async function signedIn(url: string, email?: string): Promise<Visitor> {
  const visitor = createVisitor(url);
  await visitSignedIn(visitor, `${PAGES}/clients`, email);
  return visitor;
}

/**
 * Uses the administrator's pages: lists the applications, opens one and changes it, sends the same
 * form again (rejected), revokes an authorization, and tries without the permission (rejected).
 */
async function administration({ url, native }: Soaked, { advance }: Steering): Promise<Path> {
  const ada = await signedIn(url);
  const grace = await signedIn(url, GRACE);
  const page = `${PAGES}/client?id=${native}`;
  const held = `${PAGES}/access?client=${native}`;
  const once = async (number: number) => {
    await expectStatus(200, ada.get(`${PAGES}/clients`));
    const form = await formDoing(await ada.get(`${page}&ask=update`), 'update');
    const changed = { ...form.fields, name: `Soak ${number}` };
    const done = await ada.post(form.action, changed);
    const told = await expectStatus(200, ada.get(locationOf(done).href));
    if (!told.includes('Done. The changes take effect'))
      throw new Error(`Was not changed: ${told}`);
    await expectStatus(400, ada.post(form.action, changed));
    await expectStatus(403, grace.get(page));
    const consent = await consentOf(ada, requestOf(url, native));
    await ada.submit(consent, { decision: 'allow' });
    await expectStatus(303, doAt(ada, held, 'revoke'));
    // Move the clock past the minute in which all refusals of a person cause only one event.
    await advance(61);
  };
  return inBatches(1, once);
}

/**
 * Calls the health probes. Each probe checks again, because the clock has moved past the previous
 * result.
 */
async function health({ url }: Soaked, { advance }: Steering): Promise<Path> {
  const once = async () => {
    await advance(2);
    await expectStatus(200, fetch(`${url}/health/live`));
    await expectStatus(200, fetch(`${url}/health/ready`));
  };
  return inBatches(1, once);
}

const tokenRequest = ({ url, service }: Soaked, scope: string) => {
  const credentials = Buffer.from(`${service.id}:${service.secret}`).toString('base64');
  return fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
};

/** Causes audit events, and lists them. */
async function audit(soaked: Soaked): Promise<Path> {
  const ada = await signedIn(soaked.url);
  const list = `${PAGES}/audit?${new URLSearchParams({ type: 'tokens_issued', client: soaked.service.id })}`;
  const once = async () => {
    await expectStatus(200, tokenRequest(soaked, 'orders:read'));
    const listed = await expectStatus(200, ada.get(list));
    if (!listed.includes('client_credentials')) throw new Error(`Is not in the list: ${listed}`);
  };
  return inBatches(BATCH, once);
}

/** Sends requests that succeed and requests that are rejected, and measures each. */
async function telemetry(soaked: Soaked, { collect }: Steering): Promise<Path> {
  let told = await collect();
  const once = async () => {
    await expectStatus(200, tokenRequest(soaked, 'orders:read'));
    await expectStatus(400, tokenRequest(soaked, 'nothing:here'));
    await expectStatus(200, fetch(`${soaked.url}/.well-known/openid-configuration`));
  };
  const between = async () => {
    const before = told;
    told = await collect();
    if (told - before < 3) throw new Error(`${told - before} spans were told of`);
  };
  return inBatches(BATCH, once, between);
}

/**
 * Signs in with OpenID Connect, and verifies each ID token. If the mount supports a KeySigner, the
 * KeySigner signs the tokens.
 */
async function idTokens({ url, native, signedBy }: Soaked): Promise<Path> {
  const visitor = createVisitor(url);
  const once = async () => {
    const consent = await consentOf(visitor, requestOf(url, native, 'openid'));
    const back = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const form = {
      grant_type: 'authorization_code',
      client_id: native,
      code: back.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    };
    const issued = fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { id_token: token } = JSON.parse(await expectStatus(200, issued)) as {
      readonly id_token: string;
    };
    const published = await expectStatus(200, fetch(`${url}/.well-known/jwks.json`));
    const { protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet(JSON.parse(published) as JSONWebKeySet),
      { issuer: url, audience: native, currentDate: new Date(0) },
    ).catch((error: unknown) => {
      throw new Error('The ID token does not hold', { cause: error });
    });
    if (protectedHeader.kid !== signedBy) throw new Error(`${protectedHeader.kid} has signed`);
  };
  return inBatches(1, once);
}
