import cookie from '@fastify/cookie';
import session from '@fastify/session';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { SECRET } from './application.ts';
import { mountInNest, QUIET, type SigningIn } from './nest-module.ts';

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

/** Uses @fastify/session. Sign-in and sign-out create a new session. */
const inFastify: SigningIn<FastifyRequest> = {
  userId: (request) => request.session.userId ?? null,
  async begin(request, userId) {
    await request.session.regenerate();
    request.session.userId = userId;
  },
  signOut: (request) => request.session.regenerate(),
};

export const start = mountInNest<FastifyRequest>(inFastify, onFastify);
