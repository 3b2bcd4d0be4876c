import { NestFactory } from '@nestjs/core';
import session from 'express-session';
import passport from 'passport';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule);
app.setGlobalPrefix('api', { exclude: ['/', 'login'] });
app.enableShutdownHooks();
// Exclude Portico's endpoints, because other sites may post to them. Portico's own forms contain
// their own token.
app.enableCsrfProtection({
  exclude: ({ url }: { url: string }) => /^\/(oauth\/|mcp([/?]|$))/.test(url),
});
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? '',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax' },
  }),
);
app.use(passport.session());
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
