import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { authorized, run } from './program.ts';

/** The official SDK, 2.x. It refreshes after each 401, without checking the expiry. */
await run(async ({ resource, redirectUri, document }, ask) => {
  let asked: URL | undefined;
  let information: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    ...(document === undefined ? {} : { clientMetadataUrl: document }),
    clientMetadata: { client_name: 'TypeScript 2', redirect_uris: [redirectUri] },
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
      if (scope === 'all' || scope === 'client') information = undefined;
    },
    redirectToAuthorization: (url) => void (asked = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
  };
  const isUnauthorized = (error: unknown) => error instanceof UnauthorizedError;
  const start = () => new StreamableHTTPClientTransport(resource, { authProvider: provider });
  let transport = start();
  const authorize = async () => {
    if (asked === undefined) throw new Error('unauthorized, but nowhere to go');
    const back = await ask(asked);
    await transport.finishAuth(back.searchParams);
  };
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    transport = start();
    await client.connect(transport);
    return client;
  };
  const client = await authorized(connect, isUnauthorized, authorize);
  return {
    version: transport.protocolVersion ?? '',
    call: async (tool) =>
      JSON.stringify(
        await authorized(
          () => client.callTool({ name: tool, arguments: {} }),
          isUnauthorized,
          authorize,
        ),
      ),
    hour: () => {},
    close: () => client.close(),
  };
});
