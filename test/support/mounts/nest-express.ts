import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Request } from 'express';
import { stored } from './express.ts';
import { mountInNest, QUIET } from './nest-module.ts';

async function onExpress(module: Type): Promise<INestApplication> {
  const app = await NestFactory.create(module, new ExpressAdapter(), QUIET);
  return app.use(stored.middleware());
}

export const start = mountInNest<Request>(stored, onExpress);
