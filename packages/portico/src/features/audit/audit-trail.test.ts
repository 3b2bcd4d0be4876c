import type { Log } from '@portico/sql';
import { expect, test } from 'vitest';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { serverAudit } from '../../auditing/server-audit.ts';
import type { Server } from '../../server.ts';
import { AuditTrail } from './audit-trail.ts';
import type { AuditStore } from './keeping.ts';
import type { AuditTable } from './kept-audit.ts';

const EVENT: AuditEvent = { type: 'secret_rotated', clientId: 'a client', previousExpiresAt: null };

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
