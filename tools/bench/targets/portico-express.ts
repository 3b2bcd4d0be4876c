// Portico in an Express application, by `portico/express`. The application's own endpoint requires
// an access token.
import { createServer } from 'node:http';
import express from 'express';
import { token } from 'portico';
import { bearer, portico } from 'portico/express';
import { listenOn, runTarget } from '../target.ts';
import { mountedApplication, seedMounted } from './mounted-application.ts';

await runTarget({
  seed: seedMounted,
  async serve(place) {
    const { server, signIn } = await mountedApplication(place);
    const app = express();
    app.use(portico(server));
    app.get('/protected', bearer(server), (_, response) => {
      token().requireScope('notes:read');
      response.json({ user: token().user()?.reference.id ?? null });
    });
    app.use('/login', (incoming, outgoing) => {
      incoming.url = incoming.originalUrl;
      return signIn(incoming, outgoing);
    });
    return listenOn(createServer(app), place.port);
  },
});
