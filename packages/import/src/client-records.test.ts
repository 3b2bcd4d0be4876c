import { describe, expect, test } from 'vitest';
import { GRANT_TYPES } from '../../../test/support/grant-types.ts';
import { readClientRecord } from './client-records.ts';

const OFFERED = { furtherFields: [], demands: [], rights: GRANT_TYPES.rights };

describe('a client of another server', () => {
  test.each([
    [1_700_000_000, 1_700_000_000_000],
    [1_700_000_000.1234, 1_700_000_000_123],
    [1_900_000_000, null],
    ['2023-11-14T22:13:20Z', null],
  ])('has a past registration date in whole milliseconds, or none: %j', (at, createdAt) => {
    const record = { client_id: 'one', client_name: 'One', client_id_issued_at: at };
    expect(readClientRecord(record, 1_800_000_000_000, OFFERED).createdAt).toBe(createdAt);
  });
});
