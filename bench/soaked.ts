// The process that soak.ts measures: `soaked.ts <mount>`, with an IPC channel.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { listen } from 'portico/host';
import type { AuthorizationServer } from 'portico/oauth-server';
import { KIT } from '../test/support/mcp/soak.ts';
import { MOUNTS } from '../test/support/mounts.ts';
import { freePort } from './server.ts';
import { REDIRECT_URI, type Seeded } from './target.ts';
import { application, seed } from './targets/portico-application.ts';

/** What soak.ts is told when the process listens. */
export interface Listening {
  readonly port: number;
  readonly seeded: Seeded;
}

const [, , name = KIT] = process.argv;

async function startKit(): Promise<Listening & { close(): Promise<void> }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'portico-soak-'));
  const port = await freePort();
  const place = {
    directory,
    database: `sqlite:${directory}/soak.sqlite`,
    port,
    url: `http://127.0.0.1:${port}`,
  };
  const seeded = await seed(place);
  const server = await listen(await application(place), { port, hostname: '127.0.0.1' });
  return {
    port,
    seeded,
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startMount(): Promise<Listening & { close(): Promise<void> }> {
  const mount = MOUNTS.find((each) => each.name === name);
  if (mount === undefined) throw new Error(`There is no mount ${name}`);
  const running = await mount.start({}, { databaseServer: null });
  const seeded = await seedMount(running.server);
  return { port: Number(new URL(running.url).port), seeded, close: () => running.close() };
}

/** The clients, for the person and the API that the mounts of the tests have. */
async function seedMount({ clients, keys }: AuthorizationServer): Promise<Seeded> {
  await keys.generate('ES256');
  const scopes = ['orders:read'];
  const register = async (registration: Omit<Parameters<typeof clients.create>[0], 'name'>) => {
    const { client, secret } = await clients.create({ name: 'Soak', ...registration });
    return { id: client.id, secret: secret ?? '' };
  };
  const web = { redirectUris: [REDIRECT_URI], scopes: ['openid', 'profile', 'email', ...scopes] };
  return {
    service: await register({ grants: ['client_credentials'], scopes }),
    web: await register(web),
    webES256: await register({ ...web, idTokenSignedResponseAlg: 'ES256' }),
    inspector: await register({ grants: ['introspection'] }),
    password: 'portico',
    scopes: { service: 'orders:read', plain: 'orders:read', openid: 'openid profile email orders:read' },
    paths: {
      authorize: '/oauth/authorize',
      token: '/oauth/token',
      introspect: '/oauth/introspect',
      userinfo: '/oauth/userinfo',
      revoke: '/oauth/revoke',
      protected: null,
      discovery: '/.well-known/openid-configuration',
      keys: '/.well-known/jwks.json',
    },
  };
}

/** What is finalised in one turn of the event loop can be collected in the next. */
async function heapUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc');
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

const running = await (name === KIT ? startKit() : startMount());
process.on('message', () => void heapUsed().then((bytes) => process.send?.(bytes)));
process.on('disconnect', () => void running.close().finally(() => process.exit()));
process.send?.({ port: running.port, seeded: running.seeded } satisfies Listening);
