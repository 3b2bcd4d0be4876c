import { openDatabase } from 'portico';
import { expect, onTestFinished } from 'vitest';
import { POSTGRES } from './database-server.ts';

/** How long to wait on a machine under load, in milliseconds. */
export const STANDBY_PATIENCE = { timeout: 20_000 };

/** A PostgreSQL server. The test can make its commits wait for a standby that does not exist. */
export async function startPrimary() {
  const server = await POSTGRES.start();
  onTestFinished(() => server.close());
  const direct = openDatabase(server.url, { directory: '/' });
  onTestFinished(() => direct.close());
  const waitsForStandby = async (): Promise<boolean> => {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    return (await direct.execute(waiting)).rows.length > 0;
  };
  const tell = async (standby: string): Promise<void> => {
    await direct.execute(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await direct.execute('SELECT pg_reload_conf()');
  };
  /** Commits a change. Resolves to whether the commit had to wait for a standby. */
  const probe = async (): Promise<boolean> => {
    let isDone = false;
    const commit = direct.execute("SELECT pg_logical_emit_message(true, 'probe', '')");
    const probing = commit.finally(() => (isDone = true));
    await expect.poll(async () => isDone || (await waitsForStandby()), STANDBY_PATIENCE).toBe(true);
    const waited = !isDone;
    await direct.execute(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    await probing;
    return waited;
  };
  return {
    server,
    direct,
    waitsForStandby,
    /** Resolves when commits wait, which is some time after the setting was changed. */
    awaitStandby: async (): Promise<void> => {
      await tell('unknown');
      await expect.poll(probe, { ...STANDBY_PATIENCE, interval: 10 }).toBe(true);
    },
    awaitNoStandby: () => tell(''),
  };
}
