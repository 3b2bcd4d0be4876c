import cookie from '@fastify/cookie';
import session from '@fastify/session';
import {
  Body,
  Controller,
  Get,
  Header,
  Module,
  Post,
  Query,
  Redirect,
  Req,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Request } from 'express';
import type { FastifyRequest } from 'fastify';
import { mcpServerOf } from 'portico/mcp';
import { PorticoModule, RequireScope } from 'portico/nest';
import { authorizationServerOf } from 'portico/oauth-server';
import type { Users } from '../../../examples/express-app/users.ts';
import {
  defineOrders,
  loginPage,
  orders,
  prepared,
  readLogin,
  SECRET,
  type Login,
  type Mount,
  type OwnSession,
} from './application.ts';
import { stored } from './express.ts';

// These sources have no decorators in them: they are called.

function decorate(type: Type, name: string, ...decorators: readonly MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  if (descriptor === undefined) throw new Error(`${type.name} has no ${name}`);
  for (const each of decorators) each(type.prototype as object, name, descriptor);
}

class Orders {
  list() {
    return orders();
  }
}
Controller('orders')(Orders);
decorate(Orders, 'list', Get(), RequireScope('orders:read'));

/** How people sign in on one of Nest's platforms. */
interface SigningIn<Context> extends OwnSession<Context> {
  begin(context: Context, userId: number): void | Promise<void>;
}

/** The application's own sign-in page. */
function signInPage<Context>(users: Users, own: SigningIn<Context>): Type {
  class SignIn {
    page(returnTo?: string) {
      return loginPage(returnTo);
    }
    async signIn(form: Login, context: Context) {
      const { user, location } = readLogin(users, form);
      if (user !== null) await own.begin(context, user.id);
      return { url: location, statusCode: 303 };
    }
  }
  Controller('login')(SignIn);
  decorate(SignIn, 'page', Get(), Header('Content-Type', 'text/html; charset=utf-8'));
  Query('return_to')(SignIn.prototype, 'page', 0);
  decorate(SignIn, 'signIn', Post(), Redirect());
  Body()(SignIn.prototype, 'signIn', 0);
  Req()(SignIn.prototype, 'signIn', 1);
  return SignIn;
}

function mountInNest<Context>(
  own: SigningIn<Context>,
  create: (module: Type) => Promise<INestApplication>,
): Mount['start'] {
  return (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Context>(users, own, signers),
      async (application, users, port) => {
        const server = authorizationServerOf(application);
        class App {
          readonly server = server;
        }
        Module({
          imports: [PorticoModule.forRoot({ server, more: [mcpServerOf(application)] })],
          controllers: [Orders, signInPage(users, own)],
        })(App);
        const app = await create(App);
        app.setGlobalPrefix('api', { exclude: ['login'] });
        await app.listen(port, '127.0.0.1');
        return { close: () => app.close() };
      },
    );
}

const QUIET = { logger: false, forceCloseConnections: true } as const;

async function onExpress(module: Type): Promise<INestApplication> {
  const app = await NestFactory.create(module, new ExpressAdapter(), QUIET);
  return app.use(stored.middleware());
}

async function onFastify(module: Type): Promise<INestApplication> {
  const adapter = new FastifyAdapter({ forceCloseConnections: true });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, QUIET);
  await app.register(cookie);
  await app.register(session, {
    secret: SECRET,
    saveUninitialized: false,
    cookie: { secure: false, sameSite: 'lax' },
  });
  return app;
}

/** @fastify/session: a new session at sign-in, and at signing out. */
const inFastify: SigningIn<FastifyRequest> = {
  userId: (request) => request.session.userId ?? null,
  async begin(request, userId) {
    await request.session.regenerate();
    request.session.userId = userId;
  },
  signOut: (request) => request.session.regenerate(),
};

/** For the soaks; `test/mounts/nest-*` are applications of their own, which the contract is held against. */
export const NEST: readonly Mount[] = [
  {
    name: 'Nest on Express',
    normalises: false,
    parsesJson: true,
    start: mountInNest<Request>(stored, onExpress),
  },
  {
    name: 'Nest on Fastify',
    normalises: false,
    parsesJson: false,
    start: mountInNest<FastifyRequest>(inFastify, onFastify),
  },
];
