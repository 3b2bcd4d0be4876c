import { defineConfig, stores } from '@adonisjs/session';

export default defineConfig({
  cookieName: 'adonis-session',
  age: '2h',
  cookie: { path: '/', httpOnly: true, secure: process.env.APP_ENV !== 'dev', sameSite: 'lax' },
  store: 'cookie',
  stores: { cookie: stores.cookie() },
});
