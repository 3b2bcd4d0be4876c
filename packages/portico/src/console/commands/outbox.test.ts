import { OutOfRangeError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { ListedMessage } from '../../outbox/message.ts';
import { addOutbox } from './outbox.ts';
import { runCommand } from './run-command.fixture.ts';

const MESSAGE: ListedMessage = {
  id: 'one',
  kind: 'logout',
  receiver: 'a"b',
  state: 'waiting',
  attempts: 1,
  reason: null,
  createdAt: Date.UTC(2026, 0, 1, 0, 0, 0, 999),
  expiresAt: Date.UTC(2026, 0, 2, 0, 0, 0, 999),
};
const COUNTS = { waiting: 1, undelivered: 2, dropped: 3 };

/** Runs a command for an outbox that answers with these values. */
async function run(
  args: readonly string[],
  {
    messages = [],
    counts = COUNTS,
    dropped = [],
    changed = 2,
    isOn = true,
  }: {
    readonly messages?: readonly ListedMessage[] | Error;
    readonly counts?: typeof COUNTS | null;
    readonly dropped?: readonly object[];
    readonly changed?: number;
    readonly isOn?: boolean;
  } = {},
) {
  const asked: unknown[] = [];
  const change = (what: string) => async (selection: object) => {
    asked.push([what, selection]);
    return changed;
  };
  const outbox = {
    isOn,
    stop: async () => {},
    async list(...given: unknown[]) {
      asked.push(given);
      if (messages instanceof Error) throw messages;
      return messages;
    },
    counts: async () => counts,
    dropped: async () => dropped,
    retry: change('retry'),
    discard: change('discard'),
  };
  return { ...(await runCommand(addOutbox, { outbox }, ...args)), asked };
}

describe('oauth:outbox', () => {
  test('lists messages, and counts those that were lost', async () => {
    const failed = {
      ...MESSAGE,
      attempts: 2,
      state: 'undelivered',
      reason: 'the answer is 400',
    } as const;
    const dropped = [{ kind: 'logout', receiver: 'a"b', dropped: 3 }];
    expect(await run(['oauth:outbox'], { messages: [MESSAGE, failed], dropped })).toEqual({
      printed: [
        String.raw`one  logout for "a\u{22}b"  waiting since 2026-01-01T00:00:00.999Z, 1 attempt`,
        String.raw`one  logout for "a\u{22}b"  undelivered since 2026-01-01T00:00:00.999Z, 2 attempts: the answer is 400`,
      ],
      noted: [
        'Messages waiting: 1, not delivered: 2, dropped: 3.',
        `3 messages of the kind logout for "a\\u{22}b" were dropped, because the receiver's queue was full.`,
      ],
      failed: null,
      asked: [[{}, {}]],
    });
  });

  test('passes its filters', async () => {
    const { asked } = await run([
      'oauth:outbox',
      '--receiver=a',
      '--undelivered',
      '--limit=5',
      '--after=x',
    ]);
    expect(asked).toStrictEqual([
      [
        { receiver: 'a', state: 'undelivered' },
        { limit: 5, after: 'x' },
      ],
    ]);
    expect((await run(['oauth:outbox'])).asked).toStrictEqual([[{}, {}]]);
  });

  test('says that no feature sends messages', async () => {
    expect(await run(['oauth:outbox'], { counts: null, messages: [MESSAGE] })).toMatchObject({
      printed: [],
      noted: ['No feature that sends messages is turned on.'],
    });
  });

  test('with --json prints only JSON', async () => {
    const dropped = [{ kind: 'logout', receiver: 'a', dropped: 3 }];
    const { createdAt, expiresAt, ...message } = MESSAGE;
    const items = [
      {
        ...message,
        created_at: (createdAt - 999) / 1000,
        expires_at: (expiresAt - 999) / 1000,
      },
    ];
    const given = { messages: [MESSAGE], dropped };
    expect(await run(['oauth:outbox', '--json'], given)).toMatchObject({
      printed: [{ items, counts: COUNTS, dropped }],
      noted: [],
    });
    const off = await run(['oauth:outbox', '--json'], { counts: null });
    expect(off).toMatchObject({ printed: [{ items: [], counts: null, dropped: [] }], noted: [] });
  });

  test('ends with the reason of a refusal', async () => {
    const messages = new OutOfRangeError('The limit must be 1 to 1000');
    expect(await run(['oauth:outbox'], { messages })).toMatchObject({
      failed: 'The limit must be 1 to 1000',
    });
  });
});

describe('the selection of messages', () => {
  test.each([
    ['retry', ['one'], { id: 'one' }],
    ['retry', ['--receiver=a'], { receiver: 'a' }],
    ['retry', ['--receiver=a', '--all'], { receiver: 'a' }],
    ['retry', ['--all'], {}],
    ['discard', ['one'], { id: 'one' }],
    ['discard', ['--receiver=a'], { receiver: 'a' }],
    ['discard', ['--undelivered'], { state: 'undelivered' }],
    ['discard', ['--receiver=a', '--undelivered'], { receiver: 'a', state: 'undelivered' }],
  ])('oauth:outbox:%s %j', async (what, options, selection) => {
    const { printed, asked } = await run([`oauth:outbox:${what}`, ...options]);
    expect(asked).toStrictEqual([[what, selection]]);
    expect(printed).toEqual([
      what === 'discard'
        ? 'Removed 2 messages.'
        : '2 messages are waiting for delivery again. Messages that were already waiting are ' +
          'retried now.',
    ]);
  });

  test.each([
    ['retry', []],
    ['discard', []],
  ])('must not be empty: oauth:outbox:%s', async (what, options) => {
    expect(await run([`oauth:outbox:${what}`, ...options])).toMatchObject({
      failed: 'Pass the id of a message or an option; see --help',
      asked: [],
    });
  });

  test.each([
    ['retry', '--all'],
    ['retry', '--receiver=a'],
    ['discard', '--undelivered'],
    ['discard', '--receiver=a'],
  ])('is either an id or an option: oauth:outbox:%s one %s', async (what, option) => {
    expect(await run([`oauth:outbox:${what}`, 'one', option])).toMatchObject({
      failed: 'Pass either the id of one message or an option, not both',
      asked: [],
    });
  });

  test('must exist if it is one message', async () => {
    const none = { changed: 0 };
    expect((await run(['oauth:outbox:retry', 'a"'], none)).failed).toBe(
      String.raw`No undelivered message has the id "a\u{22}"; see oauth:outbox`,
    );
    expect((await run(['oauth:outbox:discard', 'a"'], none)).failed).toBe(
      String.raw`No message has the id "a\u{22}"; see oauth:outbox`,
    );
    expect(await run(['oauth:outbox:retry', '--all'], none)).toMatchObject({ failed: null });
    expect(await run(['oauth:outbox:discard', '--undelivered'], none)).toMatchObject({
      printed: ['Removed 0 messages.'],
      failed: null,
    });
  });

  test.each(['retry', 'discard'])('needs a feature that sends messages: %s', async (what) => {
    expect(await run([`oauth:outbox:${what}`, 'one'], { isOn: false })).toMatchObject({
      failed: 'No feature that sends messages is turned on',
      asked: [],
    });
  });
});
