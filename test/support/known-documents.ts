/**
 * Documents in the form that known hosts published in autumn 2026, with invented names. They have
 * and lack the same members as the originals, including members that Portico ignores. `asks` lists
 * the redirect URIs that the host sends.
 */
export interface KnownDocument {
  readonly host: string;
  readonly path: string;
  readonly document: Readonly<Record<string, unknown>>;
  /** The redirect URIs that it sends, and its application type as the server reads it. */
  readonly asks: readonly string[];
  readonly applicationType: 'web' | 'native';
  /** Whether it can refresh tokens. */
  readonly refreshes: boolean;
}

export const KNOWN_DOCUMENTS: readonly KnownDocument[] = [
  {
    host: 'an editor: loopback with a port of its own, a web page, and a grant that is not ours',
    path: '/oauth/editor.json',
    document: {
      client_name: 'Some Editor',
      logo_uri: 'https://editor.example/logo.png',
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      client_uri: 'https://editor.example/product',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://editor.example/redirect'],
    },
    asks: ['http://127.0.0.1:33418/', 'http://127.0.0.1:51022/', 'https://editor.example/redirect'],
    applicationType: 'native',
    refreshes: true,
  },
  {
    host: 'a command line: loopback without a port, and no application_type',
    path: '/oauth/command-line-metadata',
    document: {
      client_name: 'Some Command Line',
      client_uri: 'https://assistant.example',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    asks: ['http://localhost:3118/callback', 'http://127.0.0.1:52163/callback'],
    applicationType: 'native',
    refreshes: true,
  },
  {
    host: 'a web assistant: one callback of its own, and no application_type',
    path: '/oauth/web-metadata',
    document: {
      client_name: 'Some Assistant',
      client_uri: 'https://assistant.example',
      redirect_uris: ['https://assistant.example/api/mcp/auth_callback'],
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    asks: ['https://assistant.example/api/mcp/auth_callback'],
    applicationType: 'web',
    refreshes: true,
  },
  {
    host: 'a web assistant that prefers private_key_jwt, and can do without',
    path: '/oauth/chat/client.json',
    document: {
      client_name: 'Some Chat',
      client_uri: 'https://chat.example/',
      logo_uri: 'https://static.chat.example/logo.png',
      redirect_uris: ['https://chat.example/connector_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chat.example/oauth/jwks.json',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    asks: ['https://chat.example/connector_redirect'],
    applicationType: 'web',
    refreshes: true,
  },
  {
    host: 'a coding agent, with one document for each server, and both names of loopback',
    path: '/oauth/agent/AbC_d-123456/client.json',
    document: {
      client_name: 'Some Agent',
      client_uri: 'https://agent.example',
      logo_uri: 'https://agent.example/app-512x512.png',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      token_endpoint_auth_methods_supported: ['none'],
    },
    asks: ['http://127.0.0.1:1455/callback', 'http://localhost:1455/callback'],
    applicationType: 'native',
    refreshes: true,
  },
  {
    host: 'a tool for debugging: fixed ports, and no refresh token wanted',
    path: '/debugger/client.json',
    document: {
      client_name: 'Some Debugger',
      client_uri: 'https://debugger.example/debugger',
      redirect_uris: ['http://localhost:8765/callback', 'http://127.0.0.1:8765/callback'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    asks: ['http://localhost:8765/callback'],
    applicationType: 'native',
    refreshes: false,
  },
  {
    host: 'one that names nothing but what has to be named',
    path: '/least.json',
    document: { client_name: 'Least', redirect_uris: ['https://least.example/callback'] },
    asks: ['https://least.example/callback'],
    applicationType: 'web',
    refreshes: false,
  },
  {
    host: 'one with schemes of its own, of which one has no dot',
    path: '/device.json',
    document: {
      client_name: 'Some Application',
      application_type: 'native',
      redirect_uris: ['someapp://callback', 'com.example.someapp:/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    asks: ['com.example.someapp:/callback'],
    applicationType: 'native',
    refreshes: true,
  },
];
