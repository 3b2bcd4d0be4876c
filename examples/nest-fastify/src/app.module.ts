import { Module } from '@nestjs/common';
import { PorticoModule } from 'portico/nest';
import { AuthController } from './auth.controller.js';
import { OrdersController } from './orders.controller.js';
import { startPortico } from './portico.js';
import { UsersModule } from './users.module.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [
    UsersModule,
    PorticoModule.forRootAsync({
      imports: [UsersModule],
      inject: [UsersService],
      useFactory: startPortico,
    }),
  ],
  controllers: [AuthController, OrdersController],
})
export class AppModule {}
