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

/** The store in which sessions begin. */
type StoreOpener = (url: string) => Pick<ExaminedApplication['database'], 'dialect' | 'execute'> & {
  close(): Promise<void>;
};

/** What is examined in place of the portal's own. */
export type Examined = Partial<Pick<ExaminedApplication, 'pool'>> & {
  readonly store?: StoreOpener;
  readonly url?: string;
};

/** What the doctor says about one part, in sessions that begin now. */
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

/** Expects this finding of a check. */
export const finding = (
  outcome: Check['outcome'],
  detail: RegExp,
  remedy: RegExp | null = null,
) => ({
  outcome,
  detail: expect.stringMatching(detail) as string,
  remedy: remedy === null ? null : (expect.stringMatching(remedy) as string),
});
