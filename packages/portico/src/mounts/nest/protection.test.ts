import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { Reflector, type HttpAdapterHost, type ModuleRef } from '@nestjs/core';
import { describe, expect, test } from 'vitest';
import { BearerError, type AuthorizationServer, type TokenAccessor } from '../../index.ts';
import { runWithAccessor } from '../../resource/token-accessor.ts';
import { PorticoFilter, PorticoGuard, PorticoModule, RequireScope } from './index.ts';

/** Nest's context of a call with these arguments. */
function contextOf(type: string, ...given: readonly object[]) {
  const http = { getRequest: () => given[0], getResponse: () => given[1] };
  return {
    getType: () => type,
    switchToHttp: () => http,
    getHandler: () => contextOf,
    getClass: () => PorticoGuard,
  } as unknown as ArgumentsHost & ExecutionContext;
}

describe('the filter of the Nest module', () => {
  const refusal = new BearerError('invalid_token', null);
  /** Handles the refusal after the handler has begun its response. */
  const handle = (host: ArgumentsHost): Promise<void> => {
    const httpAdapter = { isHeadersSent: () => true };
    const filter = new PorticoFilter({ httpAdapter } as unknown as HttpAdapterHost);
    const given = [refusal, host] as const;
    return filter.catch(...given);
  };

  test('throws a refusal again if the call is not an HTTP request', async () => {
    const given = contextOf('graphql', {}, { writableEnded: true });
    await expect(handle(given)).rejects.toBe(refusal);
  });

  test.each(['express', 'fastify'])(
    'closes the connection only if the response that was begun is incomplete, on %s',
    async (platform) => {
      for (const writableEnded of [false, true]) {
        let isClosed = false;
        const outgoing = { writableEnded, destroy: () => (isClosed = true) };
        const reply = platform === 'express' ? outgoing : { raw: outgoing };
        await handle(contextOf('http', {}, reply));
        expect(isClosed).toBe(!writableEnded);
      }
    },
  );
});

test('the guard of the Nest module passes the headers and the line of the request to the look-up', async () => {
  const seen: Request[] = [];
  const server = {
    origin: 'https://app.example',
    resourceMetadataUrl: null,
    async lookUpToken(_: string | null, request: () => Request) {
      seen.push(request());
      return { failure: new Response(null, { status: 503 }) };
    },
  } as unknown as AuthorizationServer;
  const rawHeaders = ['Authorization', 'Bearer a', 'X-Request-Id', 'id-7'];
  const headers = { authorization: 'Bearer a', 'x-request-id': 'id-7' };
  const incoming = { method: 'GET', url: '/notes', rawHeaders, headers };
  const guard = new PorticoGuard(server, new Reflector());
  for (const request of [incoming, { raw: incoming }])
    await expect(guard.canActivate(contextOf('http', request))).rejects.toThrow(
      'The access token could not be looked up: 503',
    );
  expect(seen.map((each) => each.headers.get('authorization'))).toEqual(['Bearer a', 'Bearer a']);
});

test.each([
  ['only a usable token', null, 'usable'],
  ['the scope at once', 'https://app.example/metadata', 'notes:read'],
])(
  'the guard of the Nest module first requires %s if challenges link to %s',
  async (_, resourceMetadataUrl, required) => {
    const refuse = (what: string) => {
      throw new Error(`refused: ${what}`);
    };
    const accessor = { requireUsable: () => refuse('usable'), requireScope: refuse };
    const server = {
      origin: 'https://app.example',
      resourceMetadataUrl,
      lookUpToken: async () => ({
        run: <T>(work: () => T) => runWithAccessor(accessor as unknown as TokenAccessor, work),
      }),
    } as unknown as AuthorizationServer;
    const handler = () => null;
    (RequireScope('notes:read') as ClassDecorator)(handler);
    const guard = new PorticoGuard(server, new Reflector());
    const request = { method: 'GET', url: '/', rawHeaders: [], headers: {} };
    const context = { ...contextOf('http', request), getHandler: () => handler };
    await expect(guard.canActivate(context)).rejects.toThrow(`refused: ${required}`);
  },
);

test('the Nest module shuts down without a close function', async () => {
  const modules = { get: () => ({}) } as unknown as ModuleRef;
  const module = new PorticoModule(modules, {} as HttpAdapterHost);
  await expect(module.onApplicationShutdown()).resolves.toBeUndefined();
});
