// Portico in an Express application. The application's own endpoint requires an access token. The
// sign-in is that of the kit.
import { createServer } from 'node:http';
import express from 'express';
import { bearer } from 'portico/express';
import { requestFrom, send } from 'portico/node';
import { authorizationServerOf, token } from 'portico';
import { listenOn, runTarget } from '../target.ts';
import { application, seed } from './portico-application.ts';

await runTarget({
  seed,
  async serve(place) {
    const opened = await application(place);
    const server = authorizationServerOf(opened);
    const app = express();
    app.get('/protected', bearer(server), (_, response) => {
      token().requireScope('notes:read');
      response.json({ user: token().user()?.reference.id ?? null });
    });
    app.use(async (incoming, outgoing) => {
      const asked = { incoming, outgoing, target: incoming.originalUrl, parsed: undefined };
      await send(await opened.fetch(requestFrom(asked, server.issuer)), outgoing, false);
    });
    return listenOn(createServer(app), place.port);
  },
});
