import type { Log } from '@portico/sql';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { UserInterface } from '../person.ts';
import { Claims } from './claims.ts';
import { createScopeCatalog } from './scopes.ts';

// A separate file, because a mutation run cannot change its time zone.

// Some database drivers return a day as midnight in the local time zone, others in UTC.
// @shows AS-3.10
test.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati', 'Africa/Cairo'])(
  'birthdate has the day that the driver meant in the time zone %s',
  async (zone) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(new Date(0).getTimezoneOffset() === 0).toBe(zone === 'UTC');
    const warnings: string[] = [];
    const log = { warning: (message: string) => void warnings.push(message) } as unknown as Log;
    const claims = new Claims(undefined, createScopeCatalog({}), log);
    // In Cairo, 26 April 2024 began at 01:00.
    for (const day of ['1990-05-17', '1990-12-31', '1890-01-01', '0050-03-01', '2024-04-26']) {
      const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
      const local = new Date(2000, 0, 1);
      local.setFullYear(year, month - 1, date);
      for (const birthdate of [local, new Date(`${day}T00:00:00Z`)]) {
        const user: UserInterface = {
          reference: { provider: 'accounts', id: '1' },
          isActive: () => true,
          getProfile: () => ({ birthdate }),
        };
        expect(await claims.released(user, ['profile'])).toEqual({ birthdate: day });
      }
    }
    expect(warnings).toEqual([]);
  },
);
