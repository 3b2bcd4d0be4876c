import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { serve } from '@hono/node-server';
import { createHandler } from 'portico/fetch';
import { portico as nodePortico } from 'portico/node';
import { administration } from '@portico/admin';
import { mcpServerOf } from '@portico/mcp';
import { authorizationServerOf, type ConfigMap, type Application } from 'portico';
import { definePortico as defineForFastify } from '../../examples/fastify/portico.ts';
import { createWeb as createFastify } from '../../examples/fastify/web.ts';
import type { Users } from '../../examples/express/users.ts';
import {
  closing,
  orders,
  prepared,
  SECRET,
  type Mount,
  type MountOptions,
  type Running,
} from './mounts/application.ts';
import { EXPRESS } from './mounts/express.ts';
import { HONO } from './mounts/hono.ts';
import { KOA } from './mounts/koa.ts';
import { definePlain, defineStateless, type PlainHost, type Sealed } from './plain-host.ts';

export type {
  Contender,
  Mount,
  MountOptions,
  RunningContender,
  RunningMount,
  Traits,
} from './mounts/application.ts';

const plain =
  (
    use: (
      host: PlainHost,
    ) => (application: Application, users: Users, port: number) => Promise<Running>,
  ) =>
  (extra: ConfigMap = {}, options: MountOptions = {}) => {
    const host = definePlain();
    return prepared({ extra, options }, (users, signers) => host.define(users, signers), use(host));
  };

export const MOUNTS: readonly Mount[] = [
  ...EXPRESS,
  {
    name: 'portico/fastify',
    normalises: false,
    parsesJson: false,
    hashed: /^\$argon2id\$/,
    start: (extra = {}, options = {}) =>
      prepared(
        { extra, options },
        (own) => defineForFastify(own, [administration]),
        async (application, users, port) => {
          const fastify = await createFastify(users, application, SECRET);
          await fastify.listen({ port, host: '127.0.0.1' });
          return { close: () => fastify.close() };
        },
      ),
  },
  {
    name: 'portico/node',
    normalises: false,
    parsesJson: false,
    start: plain((host) => async (application, users, port) => {
      const server = authorizationServerOf(application);
      const mounted = nodePortico(server, mcpServerOf(application));
      const http = createServer((incoming, outgoing) => {
        const answer = async () => {
          const cookie = host.begin(incoming, incoming.headers.cookie ?? '');
          if (cookie !== null) outgoing.setHeader('Set-Cookie', cookie);
          if (await mounted.handle(incoming, outgoing)) return;
          if (incoming.url === '/api/orders') {
            await mounted.withToken(incoming, outgoing, async () => {
              const body = JSON.stringify(orders());
              outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
            });
            return;
          }
          await host.answerNode(users, incoming, outgoing);
        };
        void answer();
      });
      http.listen(port, '127.0.0.1');
      await once(http, 'listening');
      return closing(http);
    }),
  },
  ...HONO,
  ...KOA,
  {
    name: 'a session in an encrypted cookie, by portico/fetch',
    normalises: true,
    parsesJson: false,
    start(extra = {}, options = {}) {
      const host = defineStateless();
      return prepared(
        { extra, options },
        (users, signers) => host.define(users, signers),
        async (application, users, port) => {
          const server = authorizationServerOf(application);
          const handle = createHandler<Sealed>(server, mcpServerOf(application));
          const fetch = async (request: Request) => {
            const sealed = host.begin(request);
            const answer = await handle(request, sealed);
            if (answer !== null) return answer;
            if (new URL(request.url).pathname === '/api/orders')
              return server.withToken(request, async () => Response.json(orders()), sealed);
            return host.answer(users, request, sealed);
          };
          const running = serve({ fetch, port, hostname: '127.0.0.1' }) as Server;
          await once(running, 'listening');
          return closing(running);
        },
      );
    },
  },
];
