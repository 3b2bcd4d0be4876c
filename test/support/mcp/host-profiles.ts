import { HOST_REGISTRATIONS } from './known-hosts.ts';

/**
 * How an MCP host connected in autumn 2026. A profile lists the host's requests and behavior,
 * according to its public threads and documentation. `test/hosts.test.ts` replays the profiles.
 */
export interface HostProfile {
  readonly name: string;
  /** The sources of these facts. */
  readonly sources: readonly string[];
  /**
   * The path of the endpoint whose address the host gets. Default: the endpoint that sends
   * challenges.
   */
  readonly path?: '/mcp';
  /** How the host finds the authorization server. */
  readonly discovery: 'the challenge' | 'the well-known address';
  /** How the host gets its client id. */
  readonly client:
    | {
        readonly by: 'registration';
        readonly metadata: Readonly<Record<string, unknown>>;
        /** Whether the host stops if it gets no secret. */
        readonly needsSecret?: boolean;
      }
    | { readonly by: 'document'; readonly redirectUris: readonly string[] }
    | {
        readonly by: 'the operator';
        readonly secret: 'client_secret_basic' | 'client_secret_post';
      };
  /** The redirect URI. */
  readonly redirectUri: string;
  /** Where the host finds the scopes that it requests. */
  readonly scopes: 'the challenge' | 'the resource' | 'the authorization server';
  /** Whether the host asks again with the scope in a 403. */
  readonly stepsUp: boolean;
}

const registers = (name: keyof typeof HOST_REGISTRATIONS) => {
  const { asked, uses } = HOST_REGISTRATIONS[name];
  return { client: { by: 'registration', metadata: asked }, redirectUri: uses } as const;
};

export const HOST_PROFILES: readonly HostProfile[] = [
  {
    name: 'Claude',
    sources: [
      'https://github.com/jlowin/fastmcp/issues/3369',
      'https://github.com/jlowin/fastmcp/issues/3372',
    ],
    discovery: 'the challenge',
    ...registers('Claude'),
    scopes: 'the challenge',
    stepsUp: true,
  },
  {
    name: 'Claude Code',
    sources: [
      'https://github.com/anthropics/claude-code/issues/37767',
      'https://github.com/anthropics/claude-code/issues/85236',
      'https://github.com/anthropics/claude-code/issues/91641',
    ],
    discovery: 'the challenge',
    client: {
      by: 'document',
      redirectUris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    },
    redirectUri: 'http://localhost:3118/callback',
    scopes: 'the challenge',
    stepsUp: true,
  },
  {
    name: 'ChatGPT',
    sources: [
      'https://developers.openai.com/apps-sdk/build/auth',
      'https://docs.zuora.com/zuora-ai/zuora-mcp-server/zuora-mcp-server/configure-zuora-remote-mcp-server/redirect-uris-by-mcp-client',
    ],
    discovery: 'the well-known address',
    client: { by: 'document', redirectUris: ['https://chatgpt.com/connector/oauth/kitchen'] },
    redirectUri: 'https://chatgpt.com/connector/oauth/kitchen',
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'VS Code',
    sources: ['https://github.com/microsoft/vscode/issues/278512'],
    discovery: 'the well-known address',
    ...registers('VS Code'),
    scopes: 'the challenge',
    stepsUp: true,
  },
  {
    name: 'Cursor',
    sources: ['https://github.com/Rul1an/assay/issues/2448'],
    discovery: 'the challenge',
    ...registers('Cursor'),
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'Codex',
    sources: [
      'https://github.com/openai/codex/issues/15643',
      'https://github.com/openai/codex/issues/20518',
      'https://github.com/openai/codex/issues/35253',
      'https://github.com/openai/codex/issues/46028',
    ],
    discovery: 'the well-known address',
    ...registers('Codex'),
    scopes: 'the authorization server',
    stepsUp: false,
  },
  {
    name: 'opencode',
    sources: ['https://github.com/sst/opencode/issues/47743'],
    discovery: 'the well-known address',
    ...registers('opencode'),
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'Gemini CLI',
    sources: ['https://github.com/google-gemini/gemini-cli'],
    discovery: 'the well-known address',
    ...registers('Gemini CLI'),
    scopes: 'the authorization server',
    stepsUp: false,
  },
  {
    name: 'Gemini Enterprise',
    sources: [
      'https://docs.cloud.google.com/gemini/enterprise/docs/connectors/custom-mcp-server/set-up-custom-mcp-server',
    ],
    discovery: 'the well-known address',
    client: { by: 'the operator', secret: 'client_secret_post' },
    redirectUri: 'https://vertexaisearch.cloud.google.com/oauth-redirect',
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'Microsoft 365 Copilot',
    sources: ['https://github.com/MicrosoftDocs/msteams-docs/pull/14587'],
    discovery: 'the well-known address',
    client: {
      by: 'registration',
      metadata: {
        client_name: 'Microsoft 365 Copilot',
        redirect_uris: ['https://teams.microsoft.com/api/platform/v1.0/oAuthRedirect'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      needsSecret: true,
    },
    redirectUri: 'https://teams.microsoft.com/api/platform/v1.0/oAuthRedirect',
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'Copilot Studio',
    sources: [
      'https://learn.microsoft.com/microsoft-copilot-studio/mcp-add-existing-server-to-agent',
      'https://github.com/Teamwork/mcp/issues/67',
    ],
    discovery: 'the well-known address',
    client: {
      by: 'registration',
      metadata: {
        client_name: 'Kitchen',
        redirect_uris: ['https://global.consent.azure-apim.net/redirect/kitchen'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    },
    redirectUri: 'https://global.consent.azure-apim.net/redirect/kitchen',
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'Alexa+',
    sources: [
      'https://developer.amazon.com/docs/alexaplus/add-ons/mcp-toolkit-authentication',
      'https://developer.amazon.com/docs/alexaplus/add-ons/mcp-toolkit-account-linking',
    ],
    path: '/mcp',
    discovery: 'the well-known address',
    client: { by: 'the operator', secret: 'client_secret_basic' },
    redirectUri: 'https://vendor.example/link/kitchen',
    scopes: 'the resource',
    stepsUp: false,
  },
  {
    name: 'mcp-remote',
    sources: ['https://github.com/geelen/mcp-remote'],
    discovery: 'the challenge',
    client: {
      by: 'registration',
      metadata: {
        client_name: 'MCP CLI Proxy',
        redirect_uris: ['http://localhost:3334/oauth/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    },
    redirectUri: 'http://localhost:3334/oauth/callback',
    scopes: 'the challenge',
    stepsUp: true,
  },
];
