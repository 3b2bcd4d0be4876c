import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BearerError, type AuthorizationServer } from '../index.ts';
import { bearerErrors } from './express/index.ts';
import * as ofFastify from './fastify/index.ts';
import * as ofKoa from './koa/index.ts';

/** A server with one endpoint, which responds with the body of the request. */
function serverAt(path: string): AuthorizationServer {
  const failure = () => Response.json({ error: 'temporarily_unavailable' }, { status: 503 });
  return {
    origin: 'https://app.example',
    lookUpToken: async () => ({ failure: failure() }),
    endpoints: [
      {
        name: 'echo',
        path,
        methods: ['POST'],
        handle: async (request: Request) => new Response(await request.text()),
      },
    ],
  } as unknown as AuthorizationServer;
}

/** Starts an HTTP server for the test, and returns its URL. */
async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('bearerErrors() of Express responds with the error in the body', async () => {
  const app = express();
  app.use(() => {
    throw new BearerError('invalid_token', null);
  }, bearerErrors());
  const response = await fetch(await listening(app));
  expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_token' }]);
});

test('portico() of Koa passes on a body of which a parser kept no raw text', async () => {
  const app = new Koa();
  app.use(async (ctx, next) => {
    Object.assign(ctx.request, { body: JSON.parse(await text(ctx.req)) as unknown });
    await next();
  });
  app.use(ofKoa.portico(serverAt('/echo')));
  const url = await listening((req, res) => void app.callback()(req, res));
  const response = await fetch(`${url}/echo`, { method: 'POST', body: '{ "a": 1 }' });
  expect(await response.text()).toBe('{"a":1}');
});

describe('Fastify', () => {
  test('bearer() responds if the token cannot be looked up, and runs no handler', async () => {
    const app = Fastify();
    app.addHook('onRequest', ofFastify.bearer(serverAt('/echo')));
    app.get('/notes', () => 'the handler');
    const { statusCode, body } = await app.inject('/notes');
    expect([statusCode, body]).toEqual([503, '{"error":"temporarily_unavailable"}']);
  });

  test('portico() does not start if a route is refused, also with a slash at the end', async () => {
    for (const path of ['/echo', '/echo/']) {
      const app = Fastify();
      app.addHook('onRoute', () => {
        throw new Error('no routes');
      });
      await expect(app.register(ofFastify.portico(serverAt(path)))).rejects.toThrow('no routes');
    }
  });
});
