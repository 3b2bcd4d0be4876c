// Portico in an application on `node:http`, by `portico/node`.
import { createServer } from 'node:http';
import { token } from 'portico';
import { portico } from 'portico/node';
import { listenOn, runTarget } from '../target.ts';
import { mountedApplication, seedMounted } from './mounted-application.ts';

await runTarget({
  seed: seedMounted,
  async serve(place) {
    const { server, signIn } = await mountedApplication(place);
    const mount = portico(server);
    const answer = async (...[incoming, outgoing]: Parameters<typeof mount.handle>) => {
      if (await mount.handle(incoming, outgoing)) return;
      if (incoming.url !== '/protected') return signIn(incoming, outgoing);
      await mount.withToken(incoming, outgoing, async () => {
        token().requireScope('notes:read');
        const json = JSON.stringify({ user: token().user()?.reference.id ?? null });
        outgoing.writeHead(200, { 'content-type': 'application/json' }).end(json);
      });
    };
    const listener = createServer((incoming, outgoing) => void answer(incoming, outgoing));
    return listenOn(listener, place.port);
  },
});
