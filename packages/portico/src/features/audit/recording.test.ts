import type { Log } from '@portico/sql';
import { describe, expect, test, vi } from 'vitest';
import { QUIET_LOG } from '../../../../../test/support/quiet-log.ts';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { runFrom } from '../../auditing/origin.ts';
import { currentContext } from '../../http/context.ts';
import type { Server } from '../../server.ts';
import type { Keeping } from './keeping.ts';
import { recordAsJson, recordAsLine, toRecord, visibleJson } from './record.ts';
import { Recording } from './recording.ts';
import { SignIns } from './sign-ins.ts';
import type { LineStream } from './stream.ts';

const NOW = Date.UTC(2026, 0, 1);
const ADA = { provider: 'users', id: '1' };
const BOB = { provider: 'users', id: '2' };
const ORIGIN = { id: 'an id', at: NOW, address: '192.0.2.1', requestId: 'r' };
const DENIED: AuditEvent = { type: 'consent_denied', clientId: 'notes', person: ADA };

describe('a record', () => {
  const NOTHING = {
    ...ORIGIN,
    clientId: null,
    person: null,
    by: null,
    authorization: null,
    reason: null,
    details: {},
  };

  test('has only the reference to a person and an administrator', () => {
    const account = { ...ADA, password: 'secret' };
    const event = { ...DENIED, person: account, by: { ...BOB, password: 'secret' } };
    expect(toRecord(event as AuditEvent, ORIGIN)).toEqual({
      ...NOTHING,
      type: 'consent_denied',
      clientId: 'notes',
      person: ADA,
      by: BOB,
    });
  });

  test('has null for what the event does not have', () => {
    for (const nothing of [null, undefined])
      expect(toRecord({ ...DENIED, clientId: nothing, person: nothing } as never, ORIGIN)).toEqual({
        ...NOTHING,
        type: 'consent_denied',
      });
    const event = { type: 'client_revoked', clientId: 'notes', by: 'console' } as AuditEvent;
    expect(toRecord(event, ORIGIN)).toMatchObject({ by: 'console', person: null });
  });

  test('has the address and the request of the event, if it has them', () => {
    const event = {
      ...DENIED,
      address: '192.0.2.2',
      requestId: 's',
      reason: 'why',
      authorization: 'a',
    };
    expect(toRecord(event as AuditEvent, ORIGIN)).toMatchObject({
      address: '192.0.2.2',
      requestId: 's',
      reason: 'why',
      authorization: 'a',
      details: {},
    });
  });

  test('hides where a person was who erases their own data', () => {
    const erased = (by?: object) =>
      toRecord(
        { type: 'person_erased', person: ADA, ...(by === undefined ? {} : { by }) } as never,
        ORIGIN,
      );
    expect(erased({ ...ADA })).toMatchObject({ address: null, requestId: null });
    for (const by of [BOB, { ...ADA, provider: 'staff' }, 'console', undefined])
      expect(erased(by as object | undefined)).toMatchObject({
        address: '192.0.2.1',
        requestId: 'r',
      });
    const revoked = { type: 'person_revoked', person: ADA, by: ADA } as never;
    expect(toRecord(revoked, ORIGIN)).toMatchObject({ address: '192.0.2.1', requestId: 'r' });
  });

  test('has the other members in snake case, and times in ISO 8601', () => {
    const event = { ...DENIED, usedAt: 0, aB: 1, whenAt: 'x', At: 2, nextAtAll: 3 };
    expect(toRecord(event as AuditEvent, ORIGIN).details).toEqual({
      used_at: '1970-01-01T00:00:00.000Z',
      a_b: 1,
      when_at: 'x',
      _at: '1970-01-01T00:00:00.002Z',
      next_at_all: 3,
    });
  });

  test('is one line of visible JSON', () => {
    const record = toRecord({ ...DENIED, clientId: 'a\u202Eb\n' }, ORIGIN);
    const line = recordAsLine(record);
    expect(line).toContain('"client_id":"a\\u202eb\\n"');
    expect(JSON.parse(line)).toEqual(recordAsJson(record));
    expect(visibleJson('{\n "\u2028\u2029\u009B\u{E0001}é": 1 }')).toBe(
      '{\n "\\u2028\\u2029\\u009b\\udb40\\udc01é": 1 }',
    );
  });
});

describe('recording', () => {
  function start({ now = () => NOW, address = (): string | null => '192.0.2.1' } = {}) {
    const kept: AuditRecord[] = [];
    const streamed: unknown[] = [];
    const failures: unknown[] = [];
    let failure: Error | null = null;
    const log: Log = {
      ...QUIET_LOG,
      error: (message, context) => void failures.push([message, context]),
    };
    const server = { host: { log, clientAddress: address }, clock: now } as unknown as Server;
    const keeping = { keep: async (record: AuditRecord) => void kept.push(record) };
    const stream = {
      write(line: string, forConsole: boolean) {
        if (failure !== null) throw failure;
        streamed.push([line, forConsole]);
      },
    };
    return {
      recording: new Recording(
        server,
        keeping as unknown as Keeping,
        stream as unknown as LineStream,
      ),
      onlyKept: new Recording(server, keeping as unknown as Keeping, null),
      onlyStreamed: new Recording(server, null, stream as unknown as LineStream),
      kept,
      streamed,
      failures,
      fail: (error: Error) => {
        failure = error;
      },
    };
  }

  test('writes each event to the stream and to the store', async () => {
    const { recording, onlyKept, onlyStreamed, kept, streamed } = start();
    await recording.record(DENIED);
    await recording.record({ type: 'client_revoked', clientId: 'notes', by: 'console' } as never);
    expect(kept.map(({ at, address, requestId }) => [at, address, requestId])).toEqual([
      [NOW, null, null],
      [NOW, null, null],
    ]);
    expect(streamed).toEqual(
      kept.map((record) => [recordAsLine(record), record.type === 'client_revoked']),
    );
    await onlyKept.record(DENIED);
    expect([kept.length, streamed.length]).toEqual([3, 2]);
    await onlyStreamed.record(DENIED);
    expect([kept.length, streamed.length]).toEqual([3, 3]);
  });

  test('stores an event that the stream does not accept, and logs the failure', async () => {
    const { recording, kept, failures, fail } = start();
    const failure = new Error('The disk is full');
    fail(failure);
    await recording.record(DENIED);
    expect(kept).toHaveLength(1);
    expect(failures).toEqual([
      [
        'The audit event {type} was not written to oauth_server:audit:stream: {exception}',
        { type: 'consent_denied', exception: failure },
      ],
    ]);
  });

  test('gives the events of a millisecond ids in order', async () => {
    let now = NOW;
    const { recording, kept } = start({ now: () => now });
    for (let count = 0; count < 20; count += 1) await recording.record(DENIED);
    now += 1;
    await recording.record(DENIED);
    const ids = kept.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(21);
    for (const { id, at } of kept)
      expect(id).toMatch(new RegExp(`^${at.toString(16).padStart(12, '0')}[0-9a-f]{20}$`));
    const [first = '', second = '', ...others] = ids.map((id) => BigInt(`0x${id}`));
    expect(BigInt(second) - BigInt(first)).toBe(1n);
    expect(BigInt(others.at(-1) ?? 0) - BigInt(others.at(-2) ?? 0)).not.toBe(1n);
  });

  test('gives each event an id of 32 digits', async () => {
    let now = NOW;
    const { recording, kept } = start({ now: () => now });
    // One id of sixteen has a zero after the time.
    for (; now < NOW + 400; now += 1) {
      await recording.record(DENIED);
      await recording.record(DENIED);
    }
    expect(kept.filter(({ id }) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
  });

  test('has the request that caused the event, and its address as the host sees it', async () => {
    const headers = { 'X-Request-Id': 'sent' };
    const request = new Request('https://app.example/', { headers });
    let context: unknown;
    const { recording, kept } = start({
      address: () => {
        context = currentContext();
        return '::ffff:192.0.2.1';
      },
    });
    await runFrom(
      () => request,
      'the context',
      () => recording.record(DENIED),
    );
    expect(kept[0]).toMatchObject({ address: '192.0.2.1', requestId: 'sent' });
    expect(context).toBe('the context');
    const failing = start({
      address() {
        throw new Error('The address is not known');
      },
    });
    await runFrom(
      () => request,
      null,
      () => failing.recording.record(DENIED),
    );
    expect(failing.kept[0]).toMatchObject({ address: null, requestId: 'sent' });
  });
});

describe('failed sign-ins', () => {
  function start() {
    const record = vi.fn<(event: AuditEvent) => Promise<void>>(async () => {});
    let now = NOW;
    const signIns = new SignIns(record, () => now);
    return {
      events: record.mock.calls,
      failed: signIns.failed.bind(signIns),
      pass: (milliseconds: number) => {
        now += milliseconds;
      },
    };
  }

  test('are recorded with the person, the address and the request', async () => {
    const { failed, events } = start();
    await failed('sign_in_failed', { person: ADA, address: '192.0.2.1' });
    await failed('sign_in_slowed', { person: null, address: null, requestId: 'r' });
    expect(events).toEqual([
      [{ type: 'sign_in_failed', person: ADA, address: '192.0.2.1', requestId: null }],
      [{ type: 'sign_in_slowed', person: null, address: null, requestId: 'r' }],
    ]);
  });

  test('are recorded five times a minute for each account, network and type', async () => {
    const { failed, events, pass } = start();
    const some = [
      { person: ADA, address: '192.0.2.1' },
      { person: BOB, address: '192.0.2.1' },
      { person: { ...ADA, provider: 'staff' }, address: '192.0.2.1' },
      { person: null, address: '192.0.2.1' },
      { person: null, address: '192.0.2.2' },
      { person: null, address: '2001:db8::1' },
      { person: null, address: null },
    ];
    for (let count = 0; count < 6; count += 1)
      for (const each of some) {
        await failed('sign_in_failed', each);
        await failed('sign_in_slowed', each);
      }
    expect(events).toHaveLength(5 * 2 * some.length);
    // The same network as an earlier attempt.
    await failed('sign_in_failed', { person: null, address: '2001:db8::2' });
    expect(events).toHaveLength(5 * 2 * some.length);
    pass(60_000);
    await failed('sign_in_failed', { person: null, address: '2001:db8::2' });
    expect(events).toHaveLength(5 * 2 * some.length + 1);
  });

  test('are recorded 300 times a minute for each type', async () => {
    const { failed, events } = start();
    for (const type of ['sign_in_failed', 'sign_in_slowed'] as const)
      for (let id = 0; id < 301; id += 1)
        await failed(type, { person: { provider: 'users', id: String(id) }, address: null });
    expect(events).toHaveLength(600);
  });
});
