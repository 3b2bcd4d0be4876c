import type { Log } from '@portico/sql';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { QUIET_LOG } from '../../../../../test/support/quiet-log.ts';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { serverAudit } from '../../auditing/server-audit.ts';
import type { AuditConfigInput } from '../../config.ts';
import type { Server } from '../../server.ts';
import { AuditTrail } from './audit-trail.ts';
import type { AuditStore } from './keeping.ts';
import type { AuditTable } from './kept-audit.ts';

const EVENT: AuditEvent = { type: 'secret_rotated', clientId: 'a client', previousExpiresAt: null };

/** Creates an audit trail whose table has `kept`. `asked` has what is asked of the table. */
function createTrail(config: AuditConfigInput) {
  const [kept, asked]: [AuditRecord[], unknown[]] = [[], []];
  let opened = 0;
  const table = {
    insert: async (records: readonly AuditRecord[]) => void kept.push(...records),
    newest: async () => kept,
    replacePerson: async (...given: unknown[]) => asked.push(given),
    removeBefore: async (...given: unknown[]) => asked.push(given),
  } as unknown as AuditStore & AuditTable;
  const nothing = () => {};
  const server = { host: { log: QUIET_LOG, audit: nothing }, clock: () => 2 * 86_400_000 };
  const trail = new AuditTrail(server as unknown as Server, config, async () => {
    opened += 1;
    return table;
  });
  return { trail, kept, asked, opened: () => opened };
}

test('events are recorded only if they are stored or streamed', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-trail-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const stream = path.join(folder, 'audit.jsonl');
  const ways = [{}, { keep: false }, { retention_days: 1 }, { keep: true }, { stream }];
  for (const [index, config] of ways.entries()) {
    const { trail, kept, opened } = createTrail(config);
    expect([trail.keeps, trail.record !== null]).toEqual([index === 3, index > 2]);
    await trail.record?.(EVENT);
    expect(kept).toHaveLength(index === 3 ? 1 : 0);
    // The table is opened early only if it is needed.
    await expect.poll(opened).toBe([0, 0, 1, 2, 0][index]);
  }
  expect(await readFile(stream, 'utf8')).toMatch(/^\{"id":.*"type":"secret_rotated".*\}\n$/);
});

test('the table is opened before the first event', async () => {
  const { opened } = createTrail({ keep: true });
  await expect.poll(opened).toBe(2);
});

test('a stored event is listed, gets a pseudonym, and is removed after some days', async () => {
  const { trail, kept, asked } = createTrail({ keep: true });
  await trail.record?.(EVENT);
  expect((await trail.list({ type: 'secret_rotated' }, { limit: 1 })).items).toEqual(kept);
  await expect(trail.list({}, { limit: 0 })).rejects.toThrow('The limit must be');
  const person = { provider: 'users', id: '1' };
  expect(await trail.pseudonymise(person, 'gone', 7)).toBe(1);
  expect(await trail.removeOlder(1, 9)).toBe(2);
  expect(asked).toEqual([
    [person, 'gone', 7],
    [(86_400_000).toString(16).padStart(12, '0'), 9],
  ]);
});

test('loading the audit trail is retried with the next event and the next list after a failure', async () => {
  const kept: AuditRecord[] = [];
  const table: AuditStore & AuditTable = {
    insert: async (records) => void kept.push(...records),
    isUnavailable: () => false,
    newest: async () => kept,
    keys: async () => [],
    reach: async () => null,
    read: async () => [],
    replacePerson: async () => 0,
    removeBefore: async () => 0,
  };
  const lines: string[] = [];
  const write = (message: string) => void lines.push(message);
  const log: Log = { debug: write, info: write, warning: write, error: write };
  let isGone = true;
  const host = { audit: async () => {}, log };
  const server = { host, clock: () => 0 } as unknown as Server;
  const trail = new AuditTrail(server, { keep: true }, async () => {
    if (isGone) throw new Error('A file of the release is gone');
    return table;
  });
  const audit = serverAudit(host, () => trail);
  await audit(EVENT);
  expect([lines.length, kept.length]).toEqual([1, 0]);
  await expect(audit.list()).rejects.toThrow('is gone');
  isGone = false;
  await audit(EVENT);
  expect([lines.length, kept.length]).toEqual([1, 1]);
  expect((await audit.list()).items).toEqual(kept);
});
