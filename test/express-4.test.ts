// @engines sqlite: it tests what the versions of Express do with a promise
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { bearer, bearerErrors, portico } from 'portico/express';
import type { AuthorizationServer } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** Its types are those of Express 5. */
const express4 = createRequire(import.meta.url)('express-4') as typeof express;

let portal: RunningPortal;
beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());

/** The store is not available, so the look-up of a token fails. */
const failing = (server: AuthorizationServer): AuthorizationServer => ({
  ...server,
  lookUpToken: async () => ({ failure: globalThis.Response.json({}, { status: 503 }) }),
});

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('%s', (_, framework) => {
  // Express 4 does not handle a rejected promise. The process then ends.
  test.each(['/oauth/authorize', '/.well-known/jwks.json', '/api/failing', '/api/refused'])(
    'reports an error if the response to %s comes after the application has already responded',
    async (path) => {
      const errors: unknown[] = [];
      const noted = Promise.withResolvers<void>();
      const app = framework();
      app.use((_request: Request, response: Response, next: NextFunction) => {
        response.status(503).send('Too late');
        next();
      });
      app.use(portico(portal.server));
      app.use('/api/failing', bearer(failing(portal.server)));
      app.use('/api/refused', bearer(portal.server), () => {
        throw new Error('the handler failed');
      });
      app.use(bearerErrors());
      app.use((error: unknown, _request: Request, _response: Response, _next: NextFunction) => {
        errors.push(error);
        noted.resolve();
      });
      const listening = app.listen(0, '127.0.0.1');
      await once(listening, 'listening');
      const { port } = listening.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
      expect([answer.status, await answer.text()]).toEqual([503, 'Too late']);
      await noted.promise;
      expect(errors).toHaveLength(1);
      listening.closeAllConnections();
      listening.close();
    },
  );
});
