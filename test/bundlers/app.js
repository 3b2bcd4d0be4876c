// An Express application that a bundler puts into one file, together with Portico. It uses SQLite,
// and no other drivers.
import express from 'express';
import session from 'express-session';
import { bearer, bearerErrors, portico } from 'portico/express';
import {
  defineApplication,
  returnPath,
  startApplication,
  authorizationServerOf,
  oauthServer,
  setUpServer,
  token,
} from 'portico';
import { mcp, mcpServerOf } from '@portico/mcp';

const [publicUrl, directory] = [process.env['PUBLIC_URL'], process.env['DIRECTORY']];
const definition = defineApplication({
  directory,
  config: {
    public_url: publicUrl,
    log: { path: `${directory}/app.log` },
    database_url: `sqlite:${directory}/portico.sqlite`,
    oauth_server: {
      name: 'Orders',
      audience: `${publicUrl}/mcp`,
      key_path: `${directory}/keys`,
      scopes: { 'orders:read': 'See your orders' },
    },
    mcp: { oauth: { scopes_supported: ['orders:read'] } },
  },
  plugins: [
    oauthServer({
      host: {
        signedIn: async (_, { session: { userId } }) =>
          userId === undefined ? null : { provider: 'users', id: userId },
        loadAccount: async (reference) => ({
          reference,
          isActive: () => true,
          getProfile: () => ({ name: 'Ada Lovelace' }),
        }),
        holdsPermission: async () => true,
        loginUrl: '/login',
      },
    }),
    mcp(),
  ],
});

const application = await startApplication(definition);
await application.migrate();
const server = authorizationServerOf(application);
await setUpServer(application, server);

const app = express();
app.use(session({ secret: 'a secret of the tests', resave: false, saveUninitialized: false }));
app.use(portico(server, mcpServerOf(application)));
app.use('/api', bearer(server));
app.get('/login', (req, res) => {
  const returnTo = returnPath(req.query['return_to'] ?? null).replaceAll('&', '&amp;');
  res.send(
    `<form method="post" action="/login"><input type="hidden" name="return_to" value="${returnTo}"></form>`,
  );
});
app.post('/login', express.urlencoded(), (req, res) => {
  req.session.userId = '1';
  res.redirect(303, returnPath(req.body.return_to ?? null));
});
app.get('/api/orders', (_, res) => {
  token().requireScope('orders:read');
  res.json({ of: token().user()?.getProfile().name });
});
app.use(bearerErrors());

const { client, secret } = await server.clients.create({
  name: 'Shop',
  redirectUris: ['https://client.example/callback'],
  scopes: ['openid', 'profile', 'orders:read'],
});
app.listen(Number(process.env['PORT']), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ id: client.id, secret })}\n`);
});
