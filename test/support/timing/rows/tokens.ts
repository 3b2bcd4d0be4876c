import type { World } from '../world.ts';
import { codeOf, granted, redeeming, type Granted } from './granting.ts';
import {
  AN_ID,
  basic,
  but,
  BYTES,
  HASHED,
  hex,
  newClient,
  post,
  random,
  SAME_WAY,
  type NewClient,
  type Row,
} from './row.ts';

type Offering = (world: World, token: string, by: NewClient) => Request;

const toApi: Offering = ({ url }, token) =>
  new Request(`${url}/api/whoami`, { headers: { Authorization: `Bearer ${token}` } });
const toMcp: Offering = ({ url }, token) =>
  new Request(`${url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
const toIntrospection: Offering = (world, token, by) =>
  post(world, '/oauth/introspect', { token }, basic(by.id, by.secret));
const toRevocation: Offering = (world, token, by) =>
  post(world, '/oauth/revoke', { token }, basic(by.id, by.secret));
const asRefresh: Offering = (world, token, by) =>
  post(
    world,
    '/oauth/token',
    { grant_type: 'refresh_token', refresh_token: token },
    basic(by.id, by.secret),
  );
const asCode: Offering = (world, code, by) =>
  post(world, '/oauth/token', redeeming(code), basic(by.id, by.secret));

interface OfTokens {
  readonly name: string;
  readonly classes: readonly [string, string];
  readonly must: readonly string[];
  readonly status: number;
  readonly offering: Offering;
  /** Returns the text to present. It is derived from a real token or code. */
  readonly offered: (
    own: Granted & { readonly code: string },
  ) => readonly [() => string, () => string];
}

/** A row for tokens and codes. Another client presents them, with its correct secret. */
function ofTokens({ name, classes, must, status, offering, offered }: OfTokens): Row {
  return {
    name,
    classes,
    must,
    ...(classes === BYTES ? SAME_WAY : AN_ID),
    async prepare(world) {
      const own = await granted(world);
      const by = await newClient(world, {
        grants: ['introspection', 'refresh_token', 'authorization_code'],
      });
      const code = await codeOf(world, by, own.browser);
      await world.send(toRevocation(world, 'none', by));
      const [one, other] = offered({ ...own, code });
      const request = (token: () => string) => () => offering(world, token(), by);
      return { requests: [request(one), request(other)], status };
    },
  };
}

/** Returns `<id>.<secret>` once with another secret, and once with another id. */
const guessed = (token: string) => {
  const [id = ''] = token.split('.');
  return [() => `${id}.${random()}`, () => `${hex()}.${random()}`] as const;
};
const SECRET_OR_ID = ['a real id with a wrong secret', 'an unknown id'] as const;
const secretBytes = (token: string) => [() => but(token, 33), () => but(token, -1)] as const;

export const TOKENS: readonly Row[] = [
  ofTokens({
    name: 'Access token at an API',
    classes: BYTES,
    must: HASHED,
    status: 401,
    offering: toApi,
    offered: ({ accessToken }) => secretBytes(accessToken),
  }),
  ofTokens({
    name: 'Access token at the MCP endpoint',
    classes: BYTES,
    must: HASHED,
    status: 401,
    offering: toMcp,
    offered: ({ accessToken }) => secretBytes(accessToken),
  }),
  ofTokens({
    name: 'Access token at introspection',
    classes: BYTES,
    must: HASHED,
    status: 200,
    offering: toIntrospection,
    offered: ({ accessToken }) => secretBytes(accessToken),
  }),
  ofTokens({
    name: 'Access token at introspection',
    classes: SECRET_OR_ID,
    must: ['hash sha256'],
    status: 200,
    offering: toIntrospection,
    offered: ({ accessToken }) => guessed(accessToken),
  }),
  ofTokens({
    name: 'Refresh token at revocation',
    classes: ['another client’s', 'an unknown one'],
    must: ['hash sha256'],
    status: 200,
    offering: toRevocation,
    offered: ({ refreshToken }) => [() => refreshToken, () => `${hex()}.${random()}.${random()}`],
  }),
  ofTokens({
    name: 'Refresh token, its mark',
    classes: BYTES,
    must: HASHED,
    status: 400,
    offering: asRefresh,
    offered: ({ refreshToken }) => [() => but(refreshToken, 33), () => but(refreshToken, 75)],
  }),
  ofTokens({
    name: 'Refresh token',
    classes: SECRET_OR_ID,
    must: ['hash sha256'],
    status: 400,
    offering: asRefresh,
    offered: ({ refreshToken }) => {
      const [id = ''] = refreshToken.split('.');
      return [() => `${id}.${random()}.${random()}`, () => `${hex()}.${random()}.${random()}`];
    },
  }),
  ofTokens({
    name: 'Code',
    classes: BYTES,
    must: HASHED,
    status: 400,
    offering: asCode,
    offered: ({ code }) => secretBytes(code),
  }),
  ofTokens({
    name: 'Code',
    classes: SECRET_OR_ID,
    must: ['hash sha256'],
    status: 400,
    offering: asCode,
    offered: ({ code }) => guessed(code),
  }),
];
