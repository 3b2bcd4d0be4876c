// Runs a server that uses only the SDK, as the SDK's documentation describes it:
// `createMcpHandler`, a factory that creates a server for each request, and `requireBearerAuth`,
// which looks up the token in SQLite at each call. When it listens, it prints its port and a token.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { TOOLS } from '../mcp-tools.ts';
import { listenOn } from '../target.ts';

const [, , directory = '.', port = '0'] = process.argv;
const database = new DatabaseSync(`${directory}/tokens.sqlite`);
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE tokens (hash TEXT PRIMARY KEY, client_id TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER NOT NULL)`);
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const inAnHour = Math.floor(Date.now() / 1000) + 3600;
const token = randomBytes(32).toString('base64url');
database
  .prepare('INSERT INTO tokens (hash, client_id, scope, expires_at) VALUES (?, ?, ?, ?)')
  .run(hashOf(token), 'bench', 'mcp:service', inAnHour);

const find = database.prepare('SELECT client_id, scope, expires_at FROM tokens WHERE hash = ?');
const authenticate = requireBearerAuth({
  requiredScopes: ['mcp:service'],
  verifier: {
    async verifyAccessToken(presented) {
      const row = find.get(hashOf(presented));
      if (row === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'Unknown token');
      return {
        token: presented,
        clientId: String(row['client_id']),
        scopes: String(row['scope']).split(' '),
        expiresAt: Number(row['expires_at']),
      };
    },
  },
});

/** Creates the tools once. The SDK leaves this to the application. */
const tools = TOOLS.map(({ inputSchema, ...tool }) => ({
  ...tool,
  inputSchema: fromJsonSchema(inputSchema),
}));
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'Bench', version: '1.0.0' });
  for (const { name, description, inputSchema, result } of tools) {
    server.registerTool(name, { description, inputSchema }, () => ({
      content: [{ type: 'text', text: JSON.stringify(result) }],
      structuredContent: result,
    }));
  }
  return server;
});

const answer = getRequestListener(async (request) => {
  const authenticated = await authenticate(request);
  return authenticated instanceof Response
    ? authenticated
    : handler.fetch(request, { authInfo: authenticated });
});
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
await listenOn(server, Number(port));
process.stdout.write(`${JSON.stringify({ token })}\n`);
