import {
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { authorized, run } from './program.ts';

/**
 * The official SDK, 1.x. It refreshes after each 401, without checking the expiry. It also
 * refreshes if a scope is missing, which cannot help, and then fails. The host has to hide the
 * refresh token from the SDK in this case.
 */
await run(async ({ resource, redirectUri, document }, ask) => {
  let asked: URL | undefined;
  let information: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let isScopeMissing = false;
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    ...(document === undefined ? {} : { clientMetadataUrl: document }),
    clientMetadata: {
      client_name: 'TypeScript 1',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () =>
      isScopeMissing && tokens !== undefined ? { ...tokens, refresh_token: undefined } : tokens,
    saveTokens(given) {
      isScopeMissing = false;
      tokens = given;
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
      if (scope === 'all' || scope === 'client') information = undefined;
    },
    redirectToAuthorization: (url) => void (asked = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
  };
  const isUnauthorized = (error: unknown) => error instanceof UnauthorizedError;
  const start = () =>
    new StreamableHTTPClientTransport(resource, {
      authProvider: provider,
      async fetch(url, init) {
        const response = await fetch(url, init);
        if (response.status === 403) isScopeMissing = true;
        return response;
      },
    });
  let transport = start();
  const authorize = async () => {
    if (asked === undefined) throw new Error('unauthorized, but nowhere to go');
    const back = await ask(asked);
    await transport.finishAuth(back.searchParams.get('code') ?? '');
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
