import { createServer } from 'node:http';
import { listenOn, runTarget } from '../target.ts';
import { accountOf, listenerOf, open, seed } from './oidc-application.ts';

await runTarget({
  seed,
  async serve(place) {
    const opened = open(place);
    // The endpoint is one of the provider's middlewares, as in its documentation.
    opened.provider.use(async (context, next) => {
      if (context.path !== '/protected') {
        await next();
        return;
      }
      const account = await accountOf(opened, context.get('authorization'));
      if (account === undefined) {
        context.status = 401;
        context.set('www-authenticate', 'Bearer');
        context.body = { error: 'invalid_token' };
      } else {
        context.body = { user: account.id };
      }
    });
    return listenOn(createServer(listenerOf(opened)), place.port);
  },
});
