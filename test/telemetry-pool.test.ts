// @engines servers: SQLite has no connection pool
import { expect, onTestFinished, test } from 'vitest';
import { startPortal } from './support/portal.ts';
import { record } from './support/telemetry.ts';

// @shows AS-28.3
test('the connections of a database server are reported as used, idle and waiting', async () => {
  const recording = record();
  const portal = await startPortal({
    telemetry: recording.telemetry,
    config: { database_pool_size: 4 },
  });
  onTestFinished(() => portal.close());
  const { database } = portal.application;
  const count = (state: string) =>
    recording.value('db.client.connection.count', { 'db.client.connection.state': state });
  await recording.series();
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = database.transaction(async (connection) => {
    await connection.execute('SELECT 1');
    begun.resolve();
    await gate.promise;
  });
  await begun.promise;
  expect(await count('used')).toBe(1);
  gate.resolve();
  await transaction;
  expect(await count('used')).toBe(0);
  expect(await count('idle')).toBeGreaterThan(0);
  expect(await recording.value('db.client.connection.max')).toBe(4);
  const waiting = Array.from({ length: 6 }, () => database.execute('SELECT 1'));
  expect(database.connections()).toMatchObject({ waiting: 6 });
  await Promise.all(waiting);
  expect(database.connections()).toMatchObject({ used: 0, waiting: 0 });
});
