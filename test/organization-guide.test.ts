// @engines sqlite: it runs the commands of the guide
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ConfigMap } from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { blocksOf } from './support/documents.ts';
import { accountOf } from './support/identity-provider.ts';
import { ADA, callApi, introspect, startPortal, type RunningPortal } from './support/portal.ts';
import { commandsOf } from './support/shell.ts';
import { startExchangingProvider, type ExchangingProvider } from './support/token-exchange.ts';

/** Each step of the guide for an organization's administrator, with a generic identity provider. */

const GUIDE = 'docs/enterprise-managed-authorization.md';
const BLOCKS = blocksOf(GUIDE, readFileSync(path.join(ROOT, GUIDE), 'utf8'));
const COMMANDS = BLOCKS.filter(({ info }) => info[0] === 'sh').map(({ code }) => code);

let provider: ExchangingProvider;
let portal: RunningPortal;
/** The configuration, as JSON. */
let configured: string;
let client: { readonly client_id: string; readonly client_secret: string };

beforeAll(async () => {
  client = { client_id: '', client_secret: '' };
  provider = await startExchangingProvider(() => client.client_id);
  const written = await writtenSettings();
  const config = (url: string) => {
    configured = here(written, url);
    return JSON.parse(configured) as ConfigMap;
  };
  portal = await startPortal({ config, outbound: provider.host.outbound });
});
afterAll(async () => {
  await portal.close();
  await provider.close();
});

/** Replaces the URLs of the guide with those of this test. */
const here = (text: string, url: string) =>
  text
    .replaceAll('https://idp.example/oauth2/keys', `${provider.issuer}/keys`)
    .replaceAll('https://idp.example/oauth2/token', `${provider.issuer}/token`)
    .replaceAll('https://idp.example', provider.issuer)
    .replaceAll('https://app.example', url)
    .replaceAll('RS256', 'ES256');

/**
 * Returns the configuration of the guide. The portal already has its name, its scopes and its URL.
 */
async function writtenSettings(): Promise<string> {
  const code = BLOCKS.find(({ info }) => info[0] === 'ts')?.code ?? '';
  const [, written = ''] = /oauth_server: (\{[^]*?\n {4}\}),/.exec(code) ?? [];
  const module = `data:text/javascript,${encodeURIComponent(`export const own = ${written}`)}`;
  const { own } = (await import(module)) as { readonly own: Readonly<Record<string, unknown>> };
  return JSON.stringify({ oauth_server: { ...own, name: undefined, scopes: undefined } });
}

/** Runs the command of the guide that starts like this. `words` replaces some of its words. */
async function run(begins: string, words: Readonly<Record<string, string>> = {}): Promise<string> {
  const code = COMMANDS.find((each) => each.startsWith(`npx portico ${begins}`)) ?? '';
  const [command] = commandsOf(here(code, portal.url));
  const args = (command?.words.slice(2) ?? []).map((word) => words[word] ?? word);
  const {
    code: status,
    stdout,
    stderr,
  } = await porticoHere(begins === 'oauth:client:create' ? [...args, '--json'] : args, {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: configured },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** Sends the request of a curl command in the guide. `texts` replaces its placeholders. */
async function curl(to: string, texts: Readonly<Record<string, string>>): Promise<Response> {
  const code = COMMANDS.find((each) => each.startsWith(`curl ${to}`)) ?? '';
  const filled = Object.entries(texts).reduce(
    (text, [placeholder, value]) => text.replaceAll(`<${placeholder}>`, value),
    code,
  );
  expect(filled).not.toMatch(/<\w+>/);
  const [, url = '', ...options] = commandsOf(here(filled, portal.url))[0]?.words ?? [];
  const after = (name: string) =>
    options.flatMap((word, index) => (options[index - 1] === name ? [word] : []));
  const form = new URLSearchParams(after('-d').join('&'));
  const [user = ''] = after('-u');
  if (url.startsWith(provider.issuer)) return exchange(form, user);
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return fetch(url, { method: 'POST', headers: { authorization }, body: form });
}

/** The provider of the test reads the client's id from the form. */
async function exchange(form: URLSearchParams, user: string): Promise<Response> {
  form.set('client_id', user.split(':')[0] ?? '');
  return provider.exchange(form);
}

// @shows AS-49.1, AS-49.4, AS-49.6
test('the steps of the organization guide lead to a token that works, and control access', async () => {
  client = JSON.parse(await run('oauth:client:create')) as typeof client;
  const { provider: accounts, id } = await accountOf(portal, ADA);
  const person = { users: accounts, '42': id, '6f9c7d1e5a': client.client_id };
  expect(await run('oauth:link:create', person)).toContain('Linked');
  const connect = async () => {
    const exchanged = await curl('https://idp.example', {
      id_there: provider.clientId,
      secret_there: 'secret',
      id_token: provider.idToken,
    });
    const { access_token: assertion } = (await exchanged.json()) as { access_token: string };
    return curl('https://app.example', { ...client, assertion });
  };
  const connected = await connect();
  const tokens = (await connected.json()) as { access_token: string; scope: string };
  expect(tokens).toMatchObject({ scope: 'notes:read' });
  expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
  expect(await introspect(portal, tokens.access_token)).toMatchObject({ aud: `${portal.url}/mcp` });

  await portal.server.access.revokePerson({ provider: accounts, id });
  expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
  expect((await connect()).status).toBe(400);
  expect(await run('oauth:authorization:allow 6f9c7d1e5a', person)).toContain('Allowed');
  expect((await connect()).status).toBe(200);
});
