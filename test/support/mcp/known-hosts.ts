/**
 * The registration requests of MCP hosts in autumn 2026, according to public issues. If a server
 * rejects one of them, users of that host cannot connect.
 */

/**
 * The bodies of registration requests (RFC 7591), and the redirect URI that the host uses later.
 */
export const HOST_REGISTRATIONS = {
  Claude: {
    asked: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    uses: 'https://claude.ai/api/mcp/auth_callback',
  },
  'Claude Code': {
    asked: {
      client_name: 'Claude Code (kitchen)',
      redirect_uris: ['http://localhost:3118/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    uses: 'http://localhost:3118/callback',
  },
  // The port is different each time, and the path contains the server's name.
  Codex: {
    asked: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:37819/callback/kitchen'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    uses: 'http://127.0.0.1:41003/callback/kitchen',
  },
  // One registration contains two redirect URIs on the web and two on the device. If its own port
  // is in use, the host uses another one (vscode#278512).
  'VS Code': {
    asked: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    uses: 'http://127.0.0.1:59656/',
  },
  // There are three redirect URIs, one of them with a scheme without a dot. The desktop version
  // uses the last (accounted#2225, agent-connector-for-wp#111).
  Cursor: {
    asked: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    uses: 'http://localhost:8787/callback',
  },
  // There is no application_type, and there are only loopback URIs (elmo#684).
  opencode: {
    asked: {
      client_name: 'OpenCode',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    uses: 'http://127.0.0.1:19876/mcp/oauth/callback',
  },
  // It requests the scopes of the resource. There is no application_type.
  'Gemini CLI': {
    asked: {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'mcp:tools',
    },
    uses: 'http://localhost:7777/oauth/callback',
  },
} as const;
