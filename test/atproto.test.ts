// @engines sqlite: clients see no difference between engines
import {
  JoseKey,
  Keyset,
  NodeOAuthClient,
  requestLocalLock,
  type NodeSavedSession,
  type NodeSavedState,
} from '@atproto/oauth-client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DID, HANDLE, ORIGIN, startAtprotoHost, type AtprotoHost } from './support/atproto-host.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';

/**
 * The official client of the AT Protocol, whose OAuth profile requires documents, PAR, and DPoP
 * with nonces.
 */

let documents: DocumentHost;
let host: AtprotoHost;

beforeAll(async () => {
  documents = await startDocumentHost();
  host = await startAtprotoHost({
    outbound: documents.outbound,
    config: {
      client_id_metadata_documents: true,
      private_key_jwt: true,
      pushed_authorization_requests: 'require',
      dpop: 'require',
      dpop_nonces: true,
    },
  });
});
afterAll(async () => {
  await host.close();
  await documents.close();
});

/** The library's stores. */
function createStore<T>() {
  const kept = new Map<string, T>();
  return {
    kept,
    set: async (key: string, value: T) => void kept.set(key, value),
    get: async (key: string) => kept.get(key),
    del: async (key: string) => void kept.delete(key),
  };
}

const REDIRECT_URI = 'https://client.example/callback';

async function createClient(method: 'private_key_jwt' | 'none') {
  const path = `/oauth-client-metadata-${method}.json`;
  const keyset =
    method === 'none' ? null : new Keyset([await JoseKey.generate(['ES256'], 'the-key')]);
  const clientMetadata = {
    client_id: documents.url(path),
    client_name: 'A client of the AT Protocol',
    redirect_uris: [REDIRECT_URI] as [string],
    grant_types: ['authorization_code', 'refresh_token'] as ['authorization_code', 'refresh_token'],
    response_types: ['code'] as ['code'],
    scope: 'atproto',
    application_type: 'web' as const,
    dpop_bound_access_tokens: true,
    token_endpoint_auth_method: method,
    ...(keyset === null ? {} : { token_endpoint_auth_signing_alg: 'ES256', jwks: keyset.toJSON() }),
  };
  documents.publish(path, clientMetadata);
  const sessions = createStore<NodeSavedSession>();
  const client = new NodeOAuthClient({
    clientMetadata,
    ...(keyset === null ? {} : { keyset }),
    stateStore: createStore<NodeSavedState>(),
    sessionStore: sessions,
    requestLock: requestLocalLock,
    allowHttp: true,
    handleResolver: ORIGIN,
    fetch: host.fetch,
  });
  return { client, sessions: sessions.kept };
}

/** Ada signs in with this client. */
async function signedIn(client: NodeOAuthClient) {
  const url = await client.authorize(HANDLE, { state: 'mine' });
  expect([...url.searchParams.keys()]).toEqual(['client_id', 'request_uri']);
  const { session, state } = await client.callback((await host.allow(url)).searchParams);
  expect([session.did, state]).toEqual([DID, 'mine']);
  return session;
}

describe('@atproto/oauth-client-node', () => {
  // @shows AS-24.2, AS-24.7, RFC9449-5a, RFC9449-8, RFC9126-2.1a, AS-21.1
  test.each(['private_key_jwt', 'none'] as const)(
    'with %s signs in, calls the API, refreshes, and signs out',
    async (method) => {
      const { client, sessions } = await createClient(method);
      const asked = host.answered.length;
      const session = await signedIn(client);
      // The response to the first request contains the nonce. The client repeats the request
      // unchanged.
      expect(host.answered.slice(asked).filter((each) => each.includes('/oauth/par'))).toEqual([
        'POST /oauth/par 400',
        'POST /oauth/par 201',
      ]);
      const whoAmI = async () =>
        (await session.fetchHandler('/xrpc/com.atproto.server.getSession')).json();
      expect(await whoAmI()).toEqual({ did: DID });

      const before = sessions.get(DID)?.tokenSet;
      await session.getTokenInfo(true);
      const after = sessions.get(DID)?.tokenSet;
      expect(after?.access_token).not.toBe(before?.access_token);
      expect(after?.refresh_token).not.toBe(before?.refresh_token);
      expect(await whoAmI()).toEqual({ did: DID });

      await session.signOut();
      expect(host.answered.at(-1)).toBe('POST /oauth/revoke 200');
      expect(sessions.size).toBe(0);
    },
  );

  test('refreshes once with each refresh token, and a second use ends the session', async () => {
    const { client, sessions } = await createClient('none');
    const session = await signedIn(client);
    const first = sessions.get(DID);
    await session.getTokenInfo(true);
    if (first !== undefined) sessions.set(DID, first);
    await expect(client.restore(DID, true)).rejects.toThrow('The grant is unknown, expired, used');
    expect(host.answered.at(-1)).toBe('POST /oauth/token 400');
  });
});
