// The process that soak.ts measures. Start it as `soaked.ts <mount>`, with an IPC channel.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { listen } from '@portico/kit';
import { KIT } from '../../test/support/soak/soak.ts';
import { mountNamed } from '../../test/support/mounts/named.ts';
import { freePort } from './server.ts';
import type { Seeded } from './target.ts';
import { application, PATHS, registerClients, seed } from './targets/portico-application.ts';

/** The message to soak.ts when the process listens. */
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
  const mount = await mountNamed(name);
  const running = await mount.start({}, { databaseServer: null });
  const { clients, keys } = running.server;
  await keys.generate('ES256');
  // The person and the API are the same as in the mounts of the tests.
  const seeded = {
    ...(await registerClients(clients, 'orders:read', ['mcp:tools'])),
    password: 'portico',
    paths: { ...PATHS, protected: '/api/orders', mcp: '/mcp' },
  };
  return { port: Number(new URL(running.url).port), seeded, close: () => running.close() };
}

/** Collects twice: objects with a finalizer are freed only after their finalizer has run. */
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
