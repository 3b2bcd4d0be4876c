// @engines sqlite: the database makes no difference
import Koa from 'koa';
import { describe, expect, test } from 'vitest';
import type { Mount, RunningMount } from './support/mounts.ts';
import { inCookie, mountInExpress4 } from './support/mounts/express.ts';
import { inOwnWords, mountInHono, signed } from './support/mounts/hono.ts';
import { byHand, mountInKoa } from './support/mounts/koa.ts';

const inKoa = { koa: Koa, signingIn: byHand, stored: true, before: [], behind: [] };

/** Calls `work` while the application runs. */
async function running(
  start: Mount['start'],
  work: (mount: RunningMount) => Promise<void>,
): Promise<void> {
  const mount = await start();
  try {
    await work(mount);
  } finally {
    await mount.close();
  }
}

const post = (url: string) =>
  fetch(url, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) });

describe('if other middleware read the body before Portico, the log names the cause', () => {
  test.each<[string, Mount['start'], string]>([
    [
      'Hono',
      mountInHono({
        sessions: signed,
        before: [
          async (c, next) => {
            if (c.req.method === 'POST') await c.req.raw.text();
            await next();
          },
        ],
        onError: inOwnWords,
      }),
      'The body was read from c.req.raw before portico() got the request, and is not in c.req',
    ],
    [
      'Koa',
      mountInKoa({
        ...inKoa,
        before: [
          async (ctx, next) => {
            for await (const _ of ctx.req) continue;
            await next();
          },
        ],
      }),
      'The body was read from the request before portico() got the request',
    ],
    [
      'Express 4',
      mountInExpress4(inCookie, {
        before: [(req, _, next) => void req.resume().once('end', () => next())],
      }),
      'The body was read from the request before portico() got the request',
    ],
  ])('%s', async (_, start, message) => {
    await running(start, async (mount) => {
      const answer = await post(`${mount.url}/oauth/token`);
      expect([answer.status, await answer.json()]).toMatchObject([500, { error: 'server_error' }]);
      expect(await mount.log()).toContain(message);
    });
  });
});

describe('repeated requests that look like endpoint requests but reach no endpoint cause one warning', () => {
  test.each<[string, Mount['start']]>([
    ['Hono', mountInHono({ sessions: signed, onError: inOwnWords })],
    ['Koa', mountInKoa(inKoa)],
    ['Express 4', mountInExpress4(inCookie, {})],
  ])('%s', async (_, start) => {
    await running(start, async (mount) => {
      for (const path of ['/auth/oauth/token', '/auth/oauth/token', '/auth/mcp'])
        await post(`${mount.url}${path}`);
      const lines = (await mount.log()).split('\n');
      const warnings = lines.filter((line) => line.includes('mounted below a prefix'));
      expect(warnings).toEqual([expect.stringContaining('/oauth/token')]);
    });
  });

  test('and none if an endpoint was reached', async () => {
    await running(mountInKoa(inKoa), async (mount) => {
      await fetch(`${mount.url}/.well-known/jwks.json`);
      await post(`${mount.url}/auth/oauth/token`);
      expect(await mount.log()).not.toContain('prefix');
    });
  });
});

test('a person who returns from sign-in without a session causes a warning about middleware order', async () => {
  await running(mountInKoa({ ...inKoa, sessionLast: true }), async (mount) => {
    const back = `${mount.url}/oauth/authorize?request_id=${'x'.repeat(43)}`;
    const visit = (site: string) =>
      fetch(back, { redirect: 'manual', headers: { 'Sec-Fetch-Site': site } });
    expect((await visit('cross-site')).status).toBe(302);
    expect(await mount.log()).not.toContain('signedIn() returned null');
    expect((await visit('same-origin')).status).toBe(302);
    expect(await mount.log()).toContain('signedIn() returned null');
  });
});
