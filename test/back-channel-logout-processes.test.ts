// @engines all, long: it kills processes that deliver messages
import path from 'node:path';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { porticoHere, ROOT, start } from './support/console.ts';
import { freePort } from './support/free-port.ts';
import { startLogoutReceivers } from './support/logout-receiver.ts';
import {
  ADA,
  exchangeCode,
  obtainCode,
  registerClient,
  startPortal,
  type Tokens,
} from './support/portal.ts';

const CONFIG = { oauth_server: { back_channel_logout: true } } as const;

// @shows AS-53.5
test('a client gets the logout message even if the processes that end the session and deliver stop', async () => {
  const receivers = await startLogoutReceivers();
  const portal = await startPortal({ config: CONFIG });
  // This process delivers nothing.
  await portal.server.outbox.stop();
  const receiver = receivers.receive('/logout');
  const uri = receivers.url('/logout', 'localhost');
  const client = await registerClient(portal, { metadata: { backchannel_logout_uri: [uri] } });
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
  const place = {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: {
      ...portal.env,
      PORT: String(await freePort()),
      PUBLIC_URL: portal.url,
      PORTAL_CONFIG: JSON.stringify(CONFIG),
      NODE_EXTRA_CA_CERTS: path.join(ROOT, 'test/fixtures/tls/documents-certificate.pem'),
    },
  };
  async function serve() {
    const script = path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js');
    const started = start([script, 'serve'], place);
    await started.says('Listening on');
    await fetch(`http://localhost:${place.env.PORT}/`);
    return started;
  }
  try {
    // A console command ends sessions and delivers nothing.
    await porticoHere(['account:suspend', ADA], place);
    expect(await portal.server.outbox.counts()).toMatchObject({ waiting: 1 });
    receiver.status = 0;
    const killed = await serve();
    await receiver.has(1);
    await killed.stop('SIGKILL');
    receiver.status = 200;
    // The lease of the killed process ends.
    await portal.application.database.execute('UPDATE oauth_outbox_receivers SET due_at = 0');
    const next = await serve();
    await receiver.has(2);
    await expect.poll(() => portal.server.outbox.counts()).toMatchObject({ waiting: 0 });
    const sids = receiver.tokens.map((token) => decodeJwt(token)['sid']);
    const { sid } = decodeJwt(tokens.id_token);
    expect(sids).toEqual([sid, sid]);
    await next.stop();
  } finally {
    await portal.close();
    await receivers.close();
  }
}, 120_000);
