// @engines sqlite: the store is the same in every mount
import { expect, test } from 'vitest';
import { MOUNTS } from './support/mounts.ts';
import { startPortal } from './support/portal.ts';
import { waysOf } from './support/scale.ts';

const OPEN = { registration: 'open' } as const;

// @shows AS-22.1, AS-22.8, AS-22.9
test.each([
  [
    'the kit, below a base path',
    '/auth',
    () => startPortal({ config: { base_path: '/auth', oauth_server: OPEN } }),
  ] as const,
  ...waysOf(MOUNTS).map(
    (mount) => [mount.name, '', () => mount.start({ oauth_server: OPEN })] as const,
  ),
])('clients can register, read, replace and delete on %s', async (_, basePath, start) => {
  const running = await start();
  try {
    const metadata = await fetch(
      `${new URL(running.url).origin}${basePath}/.well-known/oauth-authorization-server`,
    );
    const { registration_endpoint: endpoint } = (await metadata.json()) as Record<string, string>;
    expect(new URL(endpoint ?? '').pathname).toBe(`${basePath}/oauth/register`);
    const body = { redirect_uris: ['http://127.0.0.1/callback'] };
    const call = (method: string, uri = '', token = '', sent: object | null = null) =>
      fetch(uri, {
        method,
        headers: {
          'Content-Type': 'application/json',
          ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
        },
        body: sent === null ? null : JSON.stringify(sent),
      });
    const registered = await call('POST', endpoint, '', body);
    expect(registered.status).toBe(201);
    expect(registered.headers.get('access-control-allow-origin')).toBe('*');
    const client = (await registered.json()) as Record<string, string>;
    const { client_id, registration_client_uri: uri, registration_access_token: token } = client;
    expect((await call('GET', uri, token)).status).toBe(200);
    const replaced = await call('PUT', uri, token, { ...body, client_id, client_name: 'Named' });
    expect(await replaced.json()).toMatchObject({ client_id, client_name: 'Named' });
    expect((await call('PATCH', uri, token, body)).status).toBe(405);
    expect((await call('OPTIONS', endpoint)).status).toBe(204);
    expect((await call('DELETE', uri, token)).status).toBe(204);
    expect((await call('GET', uri, token)).status).toBe(401);
  } finally {
    await running.close();
  }
});
