// @engines postgres: only a restarted primary of PostgreSQL shows commits that no standby has
import { expect, onTestFinished, test } from 'vitest';
import { startPrimary, STANDBY_PATIENCE } from './support/engines/lone-primary.ts';
import { ADA, introspect, obtainTokens, registerClient, startPortal } from './support/portal.ts';

// @shows AS-53.7, AS-18.9
test('a retry of a session end is confirmed only after the standby database has it', async () => {
  const { server, direct, awaitStandby, awaitNoStandby, waitsForStandby } = await startPrimary();
  const config = { oauth_server: { back_channel_logout: true } };
  const portal = await startPortal({ databaseServer: server.url, config });
  onTestFinished(() => portal.close());
  // Nothing else writes.
  await portal.server.outbox.stop();
  const client = await registerClient(portal, {
    metadata: { backchannel_logout_uri: ['https://client.example/logout'] },
  });
  const { access_token: access } = await obtainTokens(portal, client, ADA);
  const { database } = portal.application;
  const { rows } = await database.execute<{ secret: string }>('SELECT secret FROM host_sessions');
  const end = () => portal.server.sessionEnded({ session: rows[0]?.secret ?? '' });
  await awaitStandby();
  const lost = end().catch((error: unknown) => error);
  await expect.poll(waitsForStandby, STANDBY_PATIENCE).toBe(true);
  await server.kill();
  await server.restart();
  expect(direct.isUnavailable(await lost)).toBe(true);
  let isConfirmed = false;
  const again = end().finally(() => (isConfirmed = true));
  await expect
    .poll(async () => isConfirmed || (await waitsForStandby()), STANDBY_PATIENCE)
    .toBe(true);
  expect(isConfirmed).toBe(false);
  await awaitNoStandby();
  await again;
  expect(await introspect(portal, access)).toEqual({ active: false });
});
