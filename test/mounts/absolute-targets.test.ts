// @engines sqlite: the database makes no difference
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express, { type RequestHandler } from 'express';
import Fastify from 'fastify';
import fc from 'fast-check';
import Koa from 'koa';
import type { AuthorizationServer } from 'portico';
import * as onExpress from 'portico/express';
import * as onFastify from 'portico/fastify';
import * as onKoa from 'portico/koa';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newDpopKey } from '../support/dpop.ts';
import { MOUNTS, type RunningMount } from '../support/mounts.ts';
import { NEST } from '../support/mounts/nest.ts';
import { boundHeaders, proofFor } from '../support/proofs.ts';
import { RUNS_ALL, SCALE } from '../support/scale.ts';

/** A target that clients otherwise send only to proxies (RFC 9112 section 3.2.2). */
const absolute = (path: string, authority = 'evil.example') => `http://${authority}${path}`;

/** Sends the request exactly as it is written here. */
async function send(
  url: string,
  line: string,
  fields: Readonly<Record<string, string>> = {},
  body = '',
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const all = { Host: 'evil.example', Connection: 'close', ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `${line} HTTP/1.1\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  return text(socket);
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const askForToken = (url: string, target: string) =>
  send(url, `POST ${target}`, FORM, 'grant_type=client_credentials');

const NAMES = ['portico/express', 'portico/koa', 'portico/fastify'];
const FRAMEWORKS = RUNS_ALL
  ? [...MOUNTS.filter(({ name }) => NAMES.some((each) => name.startsWith(each))), ...NEST]
  : MOUNTS.filter(({ name }) => NAMES.includes(name));

describe.each(FRAMEWORKS)('a request target in absolute form on $name', (mount) => {
  let running: RunningMount;
  beforeAll(async () => {
    running = await mount.start({ oauth_server: { dpop: 'accept' } });
  });
  afterAll(() => running.close());

  // @shows AS-6.18
  test.each(['evil.example', 'localhost:80', '[::1]:8080'])(
    'reaches the endpoint, and its host %s changes nothing',
    async (authority) => {
      const answer = await send(
        running.url,
        `GET ${absolute('/.well-known/openid-configuration?a=http://x/', authority)}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain(`"issuer":"${running.url}"`);
      expect(answer).not.toContain('evil.example');
      const refused = await askForToken(running.url, absolute('/oauth/token', authority));
      expect(refused).toContain('"invalid_client"');
      expect(await running.log()).not.toContain('below a prefix');
    },
  );

  // @shows AS-6.18
  test.each([
    'http://evil.example/x/../oauth/token',
    'http://evil.example/x/%2e%2e/oauth/token',
    'http://evil.example/./oauth/token',
    'http://evil.example//oauth/token',
    'http://evil.example/oauth/token/',
    'http://evil.example/oauth/TOKEN',
    'http://evil.example\\oauth/token',
    'http://evil.example/oauth\\token',
    'http://evil.example/oauth/token#x',
    'http://evil.example#/oauth/token',
    'http://evil.example?/oauth/token',
    'http://user:password@evil.example/oauth/token',
    'http://a;b/oauth/token',
    'http://a%2fb/oauth/token',
    'http:///oauth/token',
    'http:/oauth/token',
    'ftp://evil.example/oauth/token',
    '//evil.example/oauth/token',
    'http://evil.example/http://evil.example/oauth/token',
  ])('does not reach the endpoint as %s', async (target) => {
    const answer = await askForToken(running.url, target);
    expect(answer).toMatch(/^HTTP\/1\.1 [45]/);
    expect(answer).not.toContain('"invalid_client"');
  });

  // @shows AS-12.13
  test('needs a DPoP proof for the public URL, at endpoints and at routes of the host', async () => {
    const key = newDpopKey();
    const { id, secret } = await running.register({
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: ['orders:read'],
    });
    const issued = await fetch(`${running.url}/oauth/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${id}:${secret}`)}`,
        DPoP: proofFor(key, 'POST', `${running.url}/oauth/token`),
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await issued.json()) as { readonly access_token: string };
    const statusOf = async (path: string, htu: string) => {
      const headers = boundHeaders(key, 'GET', htu, token);
      const answer = await send(running.url, `GET ${absolute(path)}`, headers);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    };
    // UserInfo refuses the token of a client itself with 403, after it has checked the proof.
    for (const [path, status] of [
      ['/oauth/userinfo', 403],
      ['/api/orders', 200],
    ] as const) {
      expect([path, await statusOf(path, `${running.url}${path}`)]).toEqual([path, status]);
      expect([path, await statusOf(path, absolute(path))]).toEqual([path, 401]);
    }
  });
});

// @shows AS-2.18, AS-6.18
test.each(FRAMEWORKS)('below a base path, such a target contains it: $name', async (mount) => {
  const audience = 'https://app.example/shop/mcp';
  const running = await mount.start({
    public_url: 'https://app.example',
    base_path: '/shop',
    oauth_server: { audience },
  });
  onTestFinished(() => running.close());
  for (const [path, reaches] of [
    ['/shop/oauth/token', true],
    ['/oauth/token', false],
    ['/shop/shop/oauth/token', false],
  ] as const) {
    const answer = await askForToken(running.url, absolute(path));
    expect([path, answer.includes('"invalid_client"')]).toEqual([path, reaches]);
  }
});

// Such a host compares `incoming.url` itself, so its guards would not see the path of the endpoint.
// @shows AS-6.18
test('in node:http, a target in absolute form is not an endpoint, and causes no warning', async () => {
  const node = MOUNTS.find(({ name }) => name === 'portico/node');
  if (node === undefined) throw new Error('There is no such mount');
  const running = await node.start();
  onTestFinished(() => running.close());
  expect(await askForToken(running.url, absolute('/oauth/token'))).not.toContain('invalid_client');
  expect(await running.log()).not.toContain('below a prefix');
});

describe('a guard of the host for the path of an endpoint', () => {
  let running: RunningMount;
  beforeAll(async () => {
    const [mount] = FRAMEWORKS;
    if (mount === undefined) throw new Error('There is no mount');
    running = await mount.start();
  });
  afterAll(() => running.close());

  const ENDPOINT = '/oauth/token';
  const express4 = createRequire(import.meta.url)('express-4') as typeof express;
  const forbid: RequestHandler = (_, res) => void res.sendStatus(403);
  const GUARDED: readonly (readonly [
    string,
    (server: AuthorizationServer) => Promise<RequestListener>,
  ])[] = [
    ['Express', async (server) => express().use(ENDPOINT, forbid).use(onExpress.portico(server))],
    [
      'Express 4',
      async (server) => express4().use(ENDPOINT, forbid).use(onExpress.portico(server)),
    ],
    [
      'Koa',
      async (server) => {
        const app = new Koa();
        app.use((ctx, next) => (ctx.path === ENDPOINT ? ctx.throw(403) : next()));
        app.silent = true;
        const answer = app.use(onKoa.portico(server)).callback();
        return (incoming, outgoing) => void answer(incoming, outgoing);
      },
    ],
    [
      'Fastify',
      async (server) => {
        const fastify = Fastify();
        fastify.addHook('onRequest', (request, reply, done) => {
          if (request.routeOptions.url === ENDPOINT) reply.code(403).send();
          else done();
        });
        await fastify.register(onFastify.portico(server));
        await fastify.ready();
        return (incoming, outgoing) => fastify.routing(incoming, outgoing);
      },
    ],
  ];

  const ODD = String.raw`http https HTTP x : / // \ @ ; %2f ? # . .. * evil.example :80 [::1] [ ] _ é`;
  const PIECES = [ENDPOINT, ...ODD.split(' ')];

  // @shows AS-6.18
  test.each(GUARDED)('sees each request that reaches the endpoint: %s', async (_, listener) => {
    const http = createServer(await listener(running.server)).listen(0, '127.0.0.1');
    await once(http, 'listening');
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    expect(await askForToken(url, absolute(ENDPOINT))).toMatch(/^HTTP\/1\.1 403/);
    const target = fc
      .tuple(
        fc.constantFrom('', 'http://', 'https://', 'http://evil.example'),
        fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }),
      )
      .map(([start, pieces]) => `${start}${pieces.join('')}${ENDPOINT}`);
    await fc.assert(
      fc.asyncProperty(target, async (each) => {
        expect(await askForToken(url, each)).not.toContain('"invalid_client"');
      }),
      { numRuns: SCALE.oddPaths },
    );
  });
});
