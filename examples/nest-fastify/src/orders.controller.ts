import { Controller, Get } from '@nestjs/common';
import { CurrentToken, RequireScope } from 'portico/nest';
import type { TokenAccessor } from 'portico';

@Controller('orders')
export class OrdersController {
  @Get()
  @RequireScope('orders:read')
  list(@CurrentToken() token: TokenAccessor) {
    return { orders: [], of: token.user()?.getProfile().name ?? null };
  }
}
