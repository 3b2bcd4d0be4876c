import type { Log } from '@portico/sql';
import { expect, test } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { actedBy, type AuditEvent } from './audit.ts';
import { isEventType } from './event-types.ts';
import { currentOrigin } from './origin.ts';
import { NO_AUDIT_SINK, serverAudit, type AuditSink } from './server-audit.ts';

const EVENT: AuditEvent = { type: 'secret_rotated', clientId: 'a', previousExpiresAt: null };
const PERSON = { provider: 'users', id: '1' };

/** Creates the audit of a server. The host and the sink note what they get, or fail. */
function createAudit({ hostFails = false, sinkFails = false } = {}) {
  const got: unknown[] = [];
  const failures: unknown[] = [];
  const log: Log = {
    ...QUIET_LOG,
    error: (message, context) => void failures.push([message, context]),
  };
  const failure = new Error('not taken');
  const taken = (by: string, fails: boolean) => async (event: AuditEvent) => {
    got.push([by, event.type]);
    if (fails) throw failure;
  };
  const sink: AuditSink = {
    keeps: true,
    record: taken('sink', sinkFails),
    list: async (...asked) => ({ items: [], next: JSON.stringify(asked) }),
    pseudonymise: async (person, pseudonym, batch) => {
      got.push([person, pseudonym, batch]);
      return 3;
    },
  };
  let current = NO_AUDIT_SINK;
  const audit = serverAudit({ audit: taken('host', hostFails), log }, () => current);
  const start = () => {
    current = sink;
  };
  return { audit, start, got, failures, failure };
}

test('before the sink has started, only the host gets events, and no event is listed', async () => {
  const { audit, got } = createAudit();
  await audit(EVENT);
  expect([got, audit.keeps, audit.record]).toEqual([[['host', 'secret_rotated']], false, null]);
  expect(await audit.list()).toEqual({ items: [], next: null });
  expect(await audit.pseudonymise(PERSON, 'gone')).toBe(0);
});

test('each event goes to the sink and to the host, and record only to the sink', async () => {
  const { audit, start, got } = createAudit();
  start();
  await audit(EVENT);
  expect(got).toEqual([
    ['sink', 'secret_rotated'],
    ['host', 'secret_rotated'],
  ]);
  await audit.record?.(EVENT);
  expect(got).toHaveLength(3);
  expect(audit.keeps).toBe(true);
  expect(await audit.list({ type: 'secret_rotated' }, { limit: 1 })).toMatchObject({
    next: '[{"type":"secret_rotated"},{"limit":1}]',
  });
  expect(await audit.pseudonymise(PERSON, 'gone', 5)).toBe(3);
  expect(got.at(-1)).toEqual([PERSON, 'gone', 5]);
});

test('a failure of the host or the sink is logged, and the other one gets the event', async () => {
  for (const fails of [{ hostFails: true }, { sinkFails: true }]) {
    const { audit, start, got, failures, failure } = createAudit(fails);
    start();
    await audit(EVENT);
    expect(got).toHaveLength(2);
    expect(failures).toEqual([
      [
        'The audit sink failed for the event {type}: {exception}',
        { type: 'secret_rotated', exception: failure },
      ],
    ]);
  }
});

test('an event has the administrator only if there is one', () => {
  expect([
    actedBy(),
    actedBy({}),
    actedBy({ by: 'console' }),
    actedBy({ by: PERSON }),
  ]).toStrictEqual([{}, {}, { by: 'console' }, { by: PERSON }]);
});

test('the types of events are known', () => {
  expect(['consent_granted', 'sign_in_slowed'].every(isEventType)).toBe(true);
  expect(['', 'consent', 'toString'].some(isEventType)).toBe(false);
});

test('outside a request, an event has no address and no request', () => {
  expect(currentOrigin(() => '192.0.2.1')).toEqual({ address: null, requestId: null });
});
