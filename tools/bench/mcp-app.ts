// Runs Portico with fifty tools and with all defaults. When it listens, it prints its port and a
// token.
import { listen, startApplication } from '@portico/kit';
import { mcp, tool } from '@portico/mcp';
import { authorizationServerOf, oauthServer } from 'portico';
import { TOOLS } from './mcp-tools.ts';

const [, , directory = '.', port = '0'] = process.argv;
const url = `http://127.0.0.1:${port}`;
const resource = `${url}/mcp`;
const application = await startApplication(
  {
    directory,
    config: {
      public_url: url,
      database_url: `sqlite:${directory}/bench.sqlite`,
      oauth_server: {
        name: 'Bench',
        audience: resource,
        scopes: { 'mcp:service': 'Use tools', 'mcp:tools': 'Use your tools' },
      },
    },
    plugins: [oauthServer(), mcp()],
    register() {
      for (const { name, description, inputSchema, result } of TOOLS) {
        tool().register({
          name: () => name,
          description: () => description,
          inputSchema: () => inputSchema,
          handle: () => result,
        });
      }
    },
  },
  { env: { APP_ENV: 'dev' } },
);
await application.migrate();
const { client, secret } = await authorizationServerOf(application).clients.create({
  name: 'Bench',
  grants: ['client_credentials'],
  scopes: ['mcp:service'],
});
await listen(application, { port: Number(port), hostname: '127.0.0.1' });
const response = await fetch(`${url}/oauth/token`, {
  method: 'POST',
  headers: { Authorization: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}` },
  body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
});
const { access_token: token } = (await response.json()) as { readonly access_token: string };
process.stdout.write(`${JSON.stringify({ token })}\n`);
