import type { HttpContext } from '@adonisjs/core/http';
import type { NextFn } from '@adonisjs/core/types/http';
import { isCalled, portico } from '#services/portico_mount';

export default class PorticoMiddleware {
  handle(ctx: HttpContext, next: NextFn): unknown {
    return isCalled(ctx) ? portico(ctx) : next();
  }
}
