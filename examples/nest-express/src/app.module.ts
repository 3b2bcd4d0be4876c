import { Module } from '@nestjs/common';
import { PorticoModule } from 'portico/nest';
import { AuthModule } from './auth.js';
import { OrdersController } from './orders.controller.js';
import { startPortico } from './portico.js';
import { UsersModule } from './users.module.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [
    AuthModule,
    PorticoModule.forRootAsync({
      imports: [UsersModule],
      inject: [UsersService],
      useFactory: startPortico,
    }),
  ],
  controllers: [OrdersController],
})
export class AppModule {}
