import {
  migrationStatus,
  openDatabase,
  examine,
  oauthServerMigrations,
  type Check,
  type ExaminedApplication,
} from 'portico';
import { expect } from 'vitest';
import type { RunningPortal } from './portal.ts';

/** Opens the store with which the doctor starts its sessions. */
type StoreOpener = (url: string) => Pick<ExaminedApplication['database'], 'dialect' | 'execute'> & {
  close(): Promise<void>;
};

/** The parts that replace the portal's own in the examination. */
export type Examined = Partial<Pick<ExaminedApplication, 'pool'>> & {
  readonly store?: StoreOpener;
  readonly url?: string;
};

/** Returns the doctor's findings about one part. The examination uses new sessions. */
export async function findings(
  portal: RunningPortal,
  part: string,
  {
    store = (url) => openDatabase(url, { directory: '/' }),
    url = portal.env['DATABASE_URL'] ?? '',
    ...given
  }: Examined = {},
): Promise<readonly Check[]> {
  const database = store(url);
  try {
    const migrations = () => migrationStatus(portal.application.database, oauthServerMigrations);
    const { checks } = await examine({ database, migrations, ...given }, portal.server);
    return checks.filter((each) => each.part === part);
  } finally {
    await database.close();
  }
}

/** Returns a matcher for this finding of a check. */
export const finding = (
  outcome: Check['outcome'],
  detail: RegExp,
  remedy: RegExp | null = null,
) => ({
  outcome,
  detail: expect.stringMatching(detail) as string,
  remedy: remedy === null ? null : (expect.stringMatching(remedy) as string),
});
