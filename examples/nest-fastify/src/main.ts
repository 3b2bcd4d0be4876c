import secureSession from '@fastify/secure-session';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter());
app.setGlobalPrefix('api', { exclude: ['/', 'login'] });
app.enableShutdownHooks();
// Exclude Portico's endpoints, because other sites may post to them. Portico's own forms contain
// their own token.
app.enableCsrfProtection({
  exclude: ({ url }: { url: string }) => /^\/(oauth\/|mcp([/?]|$))/.test(url),
});
await app.register(secureSession, {
  secret: process.env.SESSION_SECRET ?? '',
  salt: 'salt of portico.',
  cookie: { path: '/', httpOnly: true, sameSite: 'lax' },
});
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
