// @engines clusters: it promotes a standby that lacks commits of the primary
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  startReplicatedPostgres,
  type ReplicatedPostgres,
} from '../support/engines/replicated-postgres.ts';
import {
  ADA,
  introspect,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type Tokens,
} from '../support/portal.ts';

let postgres: ReplicatedPostgres;
let portal: RunningPortal;
beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  portal = await startPortal({ databaseServer: postgres.url });
});
afterAll(async () => {
  await portal.close();
  await postgres.close();
});

// Checks what docs/running-on-several-machines.md says about asynchronous replication, and why it
// requires synchronous replication.
test('asynchronous replication loses revocations on failover, and used tokens work again', async () => {
  const client = await registerClient(portal);
  const ended = await obtainTokens(portal, client, ADA);
  const used = await obtainTokens(portal, client, ADA);

  const name = new URL(portal.env['DATABASE_URL'] ?? '').pathname.slice(1);
  await postgres
    .primary()
    .administrator.execute(`ALTER DATABASE ${name} SET synchronous_commit = local`);
  // The earlier sessions end, and no standby receives anything.
  postgres.address.leadTo(postgres.primary().port);
  postgres.replication.leadTo(null);
  onTestFinished(() => postgres.rejoin());
  await expect.poll(() => introspect(portal, ended.access_token)).toMatchObject({ active: true });
  const revoked = await fetch(`${portal.url}/oauth/revoke`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({ token: ended.refresh_token }),
  });
  expect(revoked.status).toBe(200);
  expect(await introspect(portal, ended.access_token)).toEqual({ active: false });
  const answer = await refresh(portal, client, used.refresh_token);
  const { access_token: answered } = (await answer.json()) as Tokens;
  expect(await introspect(portal, answered)).toMatchObject({ active: true });

  await postgres.primary().server().kill();
  await postgres.promote();
  postgres.address.leadTo(postgres.primary().port);
  await expect.poll(() => introspect(portal, ended.access_token)).toMatchObject({ active: true });
  expect((await refresh(portal, client, used.refresh_token)).status).toBe(200);
  expect(await introspect(portal, answered)).toEqual({ active: false });
});
