// @engines sqlite: the store is the same in every mount; resources.test.ts tests the resources
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { token } from 'portico';
import * as onExpress from 'portico/express';
import * as onFastify from 'portico/fastify';
import * as onHono from 'portico/hono';
import * as onKoa from 'portico/koa';
import { AtResource, PorticoModule, RequireScope } from 'portico/nest';
import * as onNext from 'portico/next';
import * as onNode from 'portico/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from '../support/portal.ts';

/** An API at one resource, in each framework. */
let portal: RunningPortal;
let here: string;
let tokenHere: string;
let tokenElsewhere: string;

beforeAll(async () => {
  portal = await startPortal({
    config: (url) => ({
      oauth_server: {
        audience: `${url}/elsewhere`,
        resources: {
          [`${url}/here`]: { scopes: ['notes:read'] },
          [`${url}/elsewhere`]: { scopes: ['notes:read'] },
        },
      },
    }),
  });
  here = `${portal.url}/here`;
  const client = await registerClient(portal);
  const tokenFor = async (resource: string) =>
    (await obtainTokens(portal, client, ADA, { resource, scope: 'notes:read' })).access_token;
  tokenHere = await tokenFor(here);
  tokenElsewhere = await tokenFor(`${portal.url}/elsewhere`);
});
afterAll(() => portal.close());

const name = () => {
  token().requireScope('notes:read');
  return token().user()?.getProfile().name ?? null;
};

interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

async function listening(listener: RequestListener): Promise<Running> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: async () => server.close() };
}

async function nest(adapter: ExpressAdapter | FastifyAdapter): Promise<Running> {
  class Api {
    read() {
      return name();
    }
    usual() {
      return name();
    }
  }
  const decorate = (method: 'read' | 'usual', ...decorators: readonly MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Api.prototype, method) ?? {};
    for (const each of decorators) each(Api.prototype, method, descriptor);
  };
  Controller('here')(Api);
  decorate('read', Get(), RequireScope('notes:read'), AtResource(here));
  decorate('usual', Get('usual'), RequireScope('notes:read'));
  class App {
    readonly api = here;
  }
  Module({ imports: [PorticoModule.forRoot({ server: portal.server })], controllers: [Api] })(App);
  const app = await NestFactory.create(App, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  return { url: (await app.getUrl()).replace('[::1]', '127.0.0.1'), close: () => app.close() };
}

const WAYS: readonly (readonly [string, () => Promise<Running>])[] = [
  [
    'portico/express',
    () => {
      const app = express();
      app.use('/here', onExpress.bearer(portal.server.resource(here)));
      app.get('/here', (_, response) => void response.json(name()));
      app.use('/here/usual', onExpress.bearer(portal.server));
      app.get('/here/usual', (_, response) => void response.json(name()));
      app.use(onExpress.bearerErrors());
      return listening(app);
    },
  ],
  [
    'portico/fastify',
    async () => {
      const app = fastify();
      app.setErrorHandler(onFastify.bearerErrors);
      for (const [url, at] of [
        ['/here', portal.server.resource(here)],
        ['/here/usual', portal.server],
      ] as const)
        app.get(url, { onRequest: onFastify.bearer(at) }, async (_, reply) =>
          reply.send(JSON.stringify(name())),
        );
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
    },
  ],
  [
    'portico/koa',
    () => {
      const app = new Koa();
      const [at, usual] = [onKoa.bearer(portal.server.resource(here)), onKoa.bearer(portal.server)];
      app.use((ctx, next) => (ctx.path === '/here' ? at : usual)(ctx, next));
      app.use((ctx) => void (ctx.body = JSON.stringify(name())));
      const answer = app.callback();
      return listening((incoming, outgoing) => void answer(incoming, outgoing));
    },
  ],
  [
    'portico/hono',
    async () => {
      const app = new Hono();
      app.use('/here', onHono.bearer(portal.server.resource(here)));
      app.use('/here/usual', onHono.bearer(portal.server));
      app.get('*', (c) => c.json(name()));
      return listening((incoming, outgoing) => {
        const request = onNode.requestFrom(
          { incoming, outgoing, target: incoming.url ?? '/', parsed: undefined },
          'http://x',
        );
        void Promise.resolve(app.fetch(request)).then((response) =>
          onNode.send(response, outgoing, false),
        );
      });
    },
  ],
  [
    'portico/node',
    () => {
      const mounted = onNode.portico(portal.server);
      return listening((incoming, outgoing) => {
        const answer = async () => void outgoing.end(JSON.stringify(name()));
        void (incoming.url === '/here'
          ? mounted.withToken(incoming, outgoing, answer, portal.server.resource(here))
          : mounted.withToken(incoming, outgoing, answer));
      });
    },
  ],
  [
    'portico/next',
    () => {
      const { withToken } = onNext.portico(async () => [portal.server], 'resources');
      return listening((incoming, outgoing) => {
        const request = onNode.requestFrom(
          { incoming, outgoing, target: incoming.url ?? '/', parsed: undefined },
          portal.url,
        );
        const answer = async () => Response.json(name());
        const answered =
          incoming.url === '/here' ? withToken(request, answer, here) : withToken(request, answer);
        void answered.then((response) => onNode.send(response, outgoing, false));
      });
    },
  ],
  [
    'a server function of portico/next',
    () => {
      const { withToken } = onNext.portico(async () => [portal.server], 'resources');
      return listening((incoming, outgoing) => {
        const { authorization = '' } = incoming.headers;
        const headers = new Headers({ authorization });
        const found =
          incoming.url === '/here' ? withToken(headers, name, here) : withToken(headers, name);
        void found.then(
          (of) => outgoing.end(JSON.stringify(of)),
          () => outgoing.writeHead(401).end(),
        );
      });
    },
  ],
  [
    'server.withToken',
    () =>
      listening((incoming, outgoing) => {
        const request = onNode.requestFrom(
          { incoming, outgoing, target: incoming.url ?? '/', parsed: undefined },
          portal.url,
        );
        const at = incoming.url === '/here' ? portal.server.resource(here) : portal.server;
        void at
          .withToken(request, async () => Response.json(name()))
          .then((response) => onNode.send(response, outgoing, false));
      }),
  ],
  ['portico/nest on Express', () => nest(new ExpressAdapter())],
  ['portico/nest on Fastify', () => nest(new FastifyAdapter())],
];

describe.each(WAYS)('an API that is configured for one resource, by %s', (_, start) => {
  let running: Running;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.close());

  const statusOf = async (path: string, accessToken: string) =>
    (await fetch(`${running.url}${path}`, { headers: { Authorization: `Bearer ${accessToken}` } }))
      .status;

  // @shows AS-12.30
  test('accepts only tokens for that resource', async () => {
    expect([await statusOf('/here', tokenHere), await statusOf('/here', tokenElsewhere)]).toEqual([
      200, 401,
    ]);
  });

  // @shows AS-12.30
  test('accepts only tokens for oauth_server:audience if no resource is configured', async () => {
    expect([
      await statusOf('/here/usual', tokenHere),
      await statusOf('/here/usual', tokenElsewhere),
    ]).toEqual([401, 200]);
  });
});
