import type { Log } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { Event, HostEvents } from './events.ts';

function createEvents() {
  const failures: unknown[] = [];
  const log: Log = {
    ...QUIET_LOG,
    error: (message, context) => void failures.push([message, context]),
  };
  return { events: new HostEvents(log), failures };
}

test('each listener of an event gets its payload in order, even if one fails', async () => {
  const { events, failures } = createEvents();
  const got: unknown[] = [];
  const failure = new Error('the first listener');
  events.on('one', async (payload) => {
    await Promise.resolve();
    got.push(['first', payload]);
    throw failure;
  });
  events.on('one', (payload) => void got.push(['second', payload]));
  events.on('other', () => void got.push('other'));
  await events.emit('one', 1);
  await events.emit('none', 2);
  expect(got).toEqual([
    ['first', 1],
    ['second', 1],
  ]);
  expect(failures).toEqual([
    ['A listener of {event} failed: {exception}', { event: 'one', exception: failure }],
  ]);
});

describe('the hook for exceptions', () => {
  test('returns the first response of a listener, and calls no later one', async () => {
    const { events } = createEvents();
    const exception = new Error('a fault');
    const response = new Response(null, { status: 418 });
    const called: unknown[] = [];
    expect(await events.answerException(exception)).toBeNull();
    events.on(Event.EXCEPTION, (given) => void called.push(given));
    expect(await events.answerException(exception)).toBeNull();
    events.on(Event.EXCEPTION, async () => response);
    events.on(Event.EXCEPTION, () => void called.push('too late'));
    expect(await events.answerException(exception)).toBe(response);
    expect(called).toEqual([exception, exception]);
  });
});

describe('the hook for responses', () => {
  test('passes each response through all listeners', async () => {
    const { events } = createEvents();
    const first = new Response('first');
    const second = new Response('second');
    expect(events.passResponse(first)).toBe(first);
    const seen: unknown[] = [];
    events.on(Event.RESPONSE_HEADER, async (given) => {
      seen.push(given);
      return second;
    });
    events.on(Event.RESPONSE_HEADER, (given) => {
      seen.push(given);
      return 'not a response';
    });
    expect(await events.passResponse(first)).toBe(second);
    expect(seen).toEqual([first, second]);
  });
});
