// Runs oidc-provider in an Express application. The application's own endpoint requires an access
// token.
import { createServer } from 'node:http';
import express, { type RequestHandler } from 'express';
import { listenOn, runTarget } from '../target.ts';
import { accountOf, listenerOf, open, seed, type Opened } from './oidc-application.ts';

function protect(opened: Opened): RequestHandler {
  return async (request, response, next) => {
    const account = await accountOf(opened, request.get('authorization') ?? '');
    response.locals['account'] = account;
    if (account === undefined) {
      response.status(401).set('www-authenticate', 'Bearer').json({ error: 'invalid_token' });
    } else {
      next();
    }
  };
}

await runTarget({
  seed,
  async serve(place) {
    const opened = open(place);
    const app = express();
    app.get('/protected', protect(opened), (_, response) => {
      const { id } = response.locals['account'] as { readonly id: string };
      response.json({ user: id });
    });
    app.use(listenerOf(opened));
    return listenOn(createServer(app), place.port);
  },
});
