// @engines sqlite, long: it tests frameworks when the client closes the connection
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import createFastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { portico as inExpress } from 'portico/express';
import { portico as inFastify } from 'portico/fastify';
import { portico as inHono } from 'portico/hono';
import { portico as inKoa } from 'portico/koa';
import { mcpServerOf, type McpServer, type ToolInterface } from '@portico/mcp';
import { portico as inNode } from 'portico/node';
import type { AuthorizationServer } from 'portico';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startAssistant, type RunningAssistant } from '../support/assistant.ts';

/** Its types are those of Koa 3. */
const Koa2 = createRequire(import.meta.url)('koa-2') as typeof Koa;

/** The state of the calls of `waiting`, which ends when its caller disconnects. */
let began: PromiseWithResolvers<void>;
let ended: PromiseWithResolvers<void>;
const waiting: ToolInterface = {
  name: () => 'waiting',
  description: () => 'Waits for its caller to leave',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { progress, signal }) {
    // Some frameworks send the headers only with the first event.
    await progress(1);
    signal.addEventListener('abort', () => ended.resolve(), { once: true });
    began.resolve();
    await ended.promise;
    return 'done';
  },
};

let assistant: RunningAssistant;
let bearer: string;
beforeAll(async () => {
  const config = { mcp: { transport: { streaming: true } } };
  assistant = await startAssistant({ tools: [waiting], config });
  bearer = `Bearer ${await assistant.serviceToken()}`;
});
afterAll(() => assistant.close());

/** Unhandled errors, and what a framework prints about them. */
const unheard: unknown[] = [];
const hear = (reason: unknown) => void unheard.push(reason);
beforeEach(() => {
  unheard.length = 0;
  [began, ended] = [Promise.withResolvers(), Promise.withResolvers()];
  process.on('unhandledRejection', hear);
  process.on('uncaughtException', hear);
  vi.spyOn(console, 'error').mockImplementation(hear);
});
afterEach(() => {
  process.off('unhandledRejection', hear);
  process.off('uncaughtException', hear);
  vi.restoreAllMocks();
});

type Mounting = (
  server: AuthorizationServer,
  mcp: McpServer,
) => RequestListener | Promise<RequestListener>;

function listenerOf({ fetch: answer }: Hono): RequestListener {
  const listener = getRequestListener(answer);
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

const koaOf =
  (framework: typeof Koa): Mounting =>
  (...mounted) =>
    new framework().use(inKoa(...mounted)).callback();

const MOUNTINGS: readonly (readonly [string, Mounting])[] = [
  ['Hono', (...mounted) => listenerOf(new Hono().use(inHono(...mounted)))],
  [
    'Hono, after middleware that has read the body',
    (...mounted) => {
      const app = new Hono().use(async (c, next) => {
        await c.req.text();
        await next();
      });
      return listenerOf(app.use(inHono(...mounted)));
    },
  ],
  ['Koa 3', koaOf(Koa)],
  ['Koa 2', koaOf(Koa2)],
  ['Express', (...mounted) => express().use(inExpress(...mounted))],
  [
    'Fastify',
    async (...mounted) => {
      const fastify = createFastify();
      await fastify.register(inFastify(...mounted));
      await fastify.ready();
      return (incoming, outgoing) => fastify.routing(incoming, outgoing);
    },
  ],
  [
    'node:http',
    (...mounted) => {
      const mount = inNode(...mounted);
      return (incoming, outgoing) => void mount.handle(incoming, outgoing);
    },
  ],
];

describe('a caller that disconnects while a tool streams', () => {
  test.each(MOUNTINGS)(
    'ends the tool, without an open connection, a logged stack or an unhandled error: %s',
    async (_, mounting) => {
      const listening = createServer(
        await mounting(assistant.server, mcpServerOf(assistant.application)),
      ).listen(0, '127.0.0.1');
      await once(listening, 'listening');
      const { port } = listening.address() as AddressInfo;
      const hangUp = new AbortController();
      const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        signal: hangUp.signal,
        headers: {
          Authorization: bearer,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waiting","arguments":{},"_meta":{"progressToken":7}}}',
      });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      await began.promise;
      const reading = response.text();
      hangUp.abort();
      await expect(reading).rejects.toThrow('aborted');
      await ended.promise;
      // The server stops only when every connection is closed.
      listening.close();
      await once(listening, 'close');
      expect(unheard).toEqual([]);
    },
  );
});
