import { expect } from 'vitest';
import {
  registerClient,
  requestToken,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './portal.ts';
import type { Visitor } from './visitor.ts';

/** The grant type for devices (RFC 8628 section 3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The configuration that enables this grant. */
export const DEVICES = { oauth_server: { device_authorization: true } } as const;

/** The first response to a device (RFC 8628 section 3.2). */
export interface Begun {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** Registers a client for devices. */
export function registerDevice(portal: RunningPortal, more: object = {}): Promise<TestClient> {
  return registerClient(portal, {
    name: 'Television',
    redirectUris: [],
    grants: [DEVICE_GRANT, 'refresh_token'],
    ...more,
  });
}

/** Sends the first request of a device. */
export function requestCodes(
  { url }: RunningPortal,
  { id, secret }: TestClient,
  form: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const credentials = secret === '' ? { client_id: id } : { client_id: id, client_secret: secret };
  const body = new URLSearchParams({ ...credentials, ...form });
  return fetch(`${url}/oauth/device_authorization`, { method: 'POST', body });
}

/** Requests codes for a device, and returns them. */
export async function begin(
  portal: RunningPortal,
  client: TestClient,
  form: Readonly<Record<string, string>> = { scope: 'openid notes:read' },
): Promise<Begun> {
  const response = await requestCodes(portal, client, form);
  expect(response.status).toBe(200);
  return (await response.json()) as Begun;
}

/** Asks for tokens, as a device does. */
export function poll(
  portal: RunningPortal,
  client: TestClient,
  { device_code }: Begun,
): Promise<Response> {
  const form = { grant_type: DEVICE_GRANT, device_code };
  return client.secret === ''
    ? requestToken(portal, null, { ...form, client_id: client.id })
    : requestToken(portal, client, form);
}

/** Enters the code, and returns the page that asks for consent. */
export async function enter(visitor: Visitor, code: string): Promise<Response> {
  return visitor.submit(await visitor.get('/oauth/device'), { user_code: code });
}

/** Enters the code, and allows or denies the request. */
export async function decide(
  visitor: Visitor,
  { user_code }: Begun,
  decision: 'allow' | 'deny' = 'allow',
): Promise<Response> {
  const asked = await enter(visitor, user_code);
  expect(asked.status).toBe(200);
  return visitor.submit(asked, { decision });
}

/** Returns the tokens in a response. Fails if it has none. */
export async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}
