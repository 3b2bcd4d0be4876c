// @engines sqlite: it tests the responses of frameworks, and uses no store
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { serve } from '@hono/node-server';
import express from 'express';
import createFastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import * as onExpress from 'portico/express';
import * as onFastify from 'portico/fastify';
import * as onHono from 'portico/hono';
import * as onKoa from 'portico/koa';
import * as onNode from 'portico/node';
import { BearerError, type AuthorizationServer } from 'portico';
import {
  createResourceServer,
  expressGuard,
  fastifyGuard,
  honoGuard,
} from '@portico/resource-server';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

/** What the application's own CORS has written before. */
const [EXPOSED, THEIRS] = ['Access-Control-Expose-Headers', 'X-Total-Count'] as const;

/**
 * Endpoints that respond like those of a server. One endpoint lets the application choose the
 * exposed headers, and the other one sets them.
 */
const server = {
  origin: 'http://localhost',
  endpoints: ['/left', '/said'].map((path) => ({
    name: path,
    path,
    methods: ['GET'],
    handle: async () => {
      const headers = new Headers({ [EXPOSED]: 'WWW-Authenticate' });
      if (path === '/said') headers.set('Access-Control-Allow-Origin', '*');
      return new Response('{}', { status: 401, headers });
    },
  })),
} as unknown as AuthorizationServer;

const resource = createResourceServer({
  issuer: 'https://id.example',
  clientId: 'api',
  clientSecret: 'secret',
  audience: null,
  resourceMetadata: 'https://api.example/.well-known/oauth-protected-resource',
});

async function listening(listener: RequestListener): Promise<string> {
  const http = createServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

const APPLICATIONS: readonly (readonly [string, () => Promise<string>])[] = [
  [
    'Express',
    () =>
      listening(
        express()
          .use((_, res, next) => {
            res.set(EXPOSED, THEIRS);
            next();
          })
          .use(onExpress.portico(server))
          .get('/guarded', expressGuard(resource, 'a')),
      ),
  ],
  [
    'Fastify',
    async () => {
      const fastify = createFastify();
      onTestFinished(() => fastify.close());
      fastify.addHook('onRequest', async (_, reply) => void reply.header(EXPOSED, THEIRS));
      await fastify.register(onFastify.portico(server));
      fastify.get('/guarded', { onRequest: fastifyGuard(resource, 'a') }, () => ({}));
      return fastify.listen({ port: 0, host: '127.0.0.1' });
    },
  ],
  [
    'Hono',
    async () => {
      const app = new Hono()
        .use(async (c, next) => {
          c.res.headers.set(EXPOSED, THEIRS);
          await next();
        })
        .use(onHono.portico(server))
        .get('/guarded', honoGuard(resource, 'a'));
      const running = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
      if (!running.listening) await once(running, 'listening');
      onTestFinished(() => void running.close());
      return `http://127.0.0.1:${(running.address() as AddressInfo).port}`;
    },
  ],
  [
    'Koa',
    () => {
      const app = new Koa();
      app.use(async (ctx, next) => {
        ctx.set(EXPOSED, THEIRS);
        await next();
      });
      const answer = app.use(onKoa.portico(server)).callback();
      return listening((incoming, outgoing) => void answer(incoming, outgoing));
    },
  ],
  [
    'node:http',
    () => {
      const mounted = onNode.portico(server);
      return listening((incoming, outgoing) => {
        outgoing.setHeader(EXPOSED, THEIRS);
        void mounted.handle(incoming, outgoing);
      });
    },
  ],
];

// @shows AS-12.10
test.each(APPLICATIONS)(
  'a challenge on %s adds WWW-Authenticate to the CORS headers that the application exposes',
  async (_, start) => {
    const url = await start();
    const exposed = async (path: string) => (await fetch(`${url}${path}`)).headers.get(EXPOSED);
    expect(await exposed('/left')).toBe(`${THEIRS}, WWW-Authenticate`);
    expect(await exposed('/said')).toBe('WWW-Authenticate');
  },
);

// @shows AS-12.10
test.each([false, true])(
  'bearerErrors() on Hono adds WWW-Authenticate too, with bearer() before it: %s',
  async (guarded) => {
    const app = new Hono().onError(onHono.bearerErrors());
    app.use(async (c, next) => {
      c.header(EXPOSED, THEIRS);
      await next();
    });
    const lookUpToken = async () => ({ run: <T>(work: () => T) => work() });
    if (guarded) app.use(onHono.bearer({ ...server, lookUpToken }));
    app.get('/orders', () => {
      throw new BearerError('missing_token', 'orders:read', {
        resourceMetadata: 'https://api.example/metadata',
      });
    });
    const response = await app.request('/orders');
    expect([response.status, response.headers.get(EXPOSED)]).toEqual([
      401,
      `${THEIRS}, WWW-Authenticate`,
    ]);
  },
);

// @shows AS-12.11
test.each(APPLICATIONS.slice(0, 3))(
  'a guard() on %s adds WWW-Authenticate too',
  async (_, start) => {
    const response = await fetch(`${await start()}/guarded`);
    expect([response.status, response.headers.get(EXPOSED)]).toEqual([
      401,
      `${THEIRS}, WWW-Authenticate`,
    ]);
  },
);
