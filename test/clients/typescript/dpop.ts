import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { run } from './program.ts';

/**
 * The official SDK, 2.x, plus a part that the SDK does not contain: its `fetch` uses tokens that
 * are bound to a key (RFC 9449). If there is no redirect URI, the MCP conformance suite runs it,
 * whose pages ask no questions.
 */
const options = { [oauth.allowInsecureRequests]: true };

/** Repeats the request with the nonce from the response. */
async function withNonce<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return ask();
  }
}

async function redirected(url: URL): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' });
  return new URL(response.headers.get('location') ?? '');
}

/** Returns the authorization server of the resource, and a client that registers itself there. */
async function discovered(resource: URL, redirectUri: string) {
  const { authorization_servers: [issuer = ''] = [], scopes_supported: scopes = [] } =
    await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, options),
    );
  const url = new URL(issuer);
  const server = await oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { ...options, algorithm: 'oauth2' }),
  );
  const about = {
    client_name: 'DPoP',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    dpop_bound_access_tokens: true,
  };
  // Without the library, because the suite's response contains a secret that the library rejects.
  const registered = await fetch(server.registration_endpoint ?? '', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(about),
  });
  const { client_id } = (await registered.json()) as oauth.Client;
  const client = { client_id };
  return { server, client, scope: scopes.join(' ') };
}

await run(async ({ resource, redirectUri: given }, ask) => {
  const redirectUri = given === '' ? 'http://127.0.0.1:8976/callback' : given;
  const { server, client, scope } = await discovered(resource, redirectUri);
  const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint ?? '');
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
    resource: resource.href,
    ...(scope === '' ? {} : { scope }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const back = given === '' ? await redirected(url) : await ask(url);
  const answer = oauth.validateAuthResponse(server, client, back, state);
  const redeem = async () =>
    oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        answer,
        redirectUri,
        verifier,
        {
          ...options,
          DPoP,
          additionalParameters: { resource: resource.href },
        },
      ),
    );
  const { access_token: token } = await withNonce(redeem);

  const proving = (input: string | URL, init: RequestInit = {}) =>
    withNonce(() =>
      oauth.protectedResourceRequest(
        token,
        init.method ?? 'GET',
        new URL(input),
        new Headers(init.headers),
        init.body as oauth.ProtectedResourceRequestBody,
        { ...options, DPoP, ...(init.signal ? { signal: init.signal } : {}) },
      ),
    );
  const mcp = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(resource, { fetch: proving });
  await mcp.connect(transport);
  return {
    version: transport.protocolVersion ?? '',
    call: async (tool) => JSON.stringify(await mcp.callTool({ name: tool, arguments: {} })),
    hour: () => {},
    close: () => mcp.close(),
  };
});
