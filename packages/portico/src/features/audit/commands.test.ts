import { OutOfRangeError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { AuditPage, AuditRecord } from '../../auditing/kept-audit.ts';
import { runCommand } from '../../console/commands/run-command.fixture.ts';
import { addAuditList } from './commands.ts';

const NOW = Date.UTC(2026, 0, 31);
const RECORD: AuditRecord = {
  id: 'an id',
  at: Date.UTC(2026, 0, 1),
  type: 'consent_denied',
  clientId: 'notes',
  person: { provider: 'users', id: '1' },
  by: null,
  address: '192.0.2.1',
  requestId: null,
  authorization: null,
  reason: 'two words',
  details: { outcome: 'failed', times: 2, none: null, more: ['a\u202E'], all: ['a'] },
};
const JSON_RECORD = {
  id: 'an id',
  time: '2026-01-01T00:00:00.000Z',
  type: 'consent_denied',
  client_id: 'notes',
  person: { provider: 'users', id: '1' },
  by: null,
  address: '192.0.2.1',
  request_id: null,
  authorization_id: null,
  reason: 'two words',
  details: RECORD.details,
};

/** Runs the command. The list has these pages, and `asked` has what the command asked for. */
async function audited(
  answers: readonly (Partial<AuditPage> | Error)[],
  options: readonly string[] = [],
  keeps = true,
) {
  const asked: unknown[] = [];
  const left = [...answers];
  const audit = {
    keeps,
    async list(...given: unknown[]) {
      asked.push(given);
      const answer = left.shift();
      if (answer instanceof Error) throw answer;
      return { items: [], next: null, ...answer };
    },
  };
  const server = { clock: () => NOW, audit };
  return { ...(await runCommand(addAuditList, server, 'oauth:audit', ...options)), asked };
}

describe('oauth:audit', () => {
  test('prints one line for each event, without the id and without empty fields', async () => {
    expect(await audited([{ items: [RECORD, { ...RECORD, reason: 'a"b' }] }])).toEqual({
      printed: [
        '2026-01-01T00:00:00.000Z  consent_denied  client_id=notes  ' +
          'person={"provider":"users","id":"1"}  address=192.0.2.1  reason="two words"  ' +
          'outcome=failed  times=2  more=["a\\u202e"]  all=["a"]',
        '2026-01-01T00:00:00.000Z  consent_denied  client_id=notes  ' +
          'person={"provider":"users","id":"1"}  address=192.0.2.1  reason=a"b  ' +
          'outcome=failed  times=2  more=["a\\u202e"]  all=["a"]',
      ],
      noted: [],
      failed: null,
      asked: [[{}, {}]],
    });
    expect((await audited([])).asked).toStrictEqual([[{}, {}]]);
    const { printed } = await audited([{ items: [{ ...RECORD, reason: '', clientId: 'é' }] }]);
    expect(printed[0]).toContain('client_id="é"');
    expect(printed[0]).toContain('reason=""');
  });

  test('prints JSON, with the cursor of the next page', async () => {
    const { printed, noted } = await audited([{ items: [RECORD], next: 'more' }], ['--json']);
    expect([printed, noted]).toEqual([[{ items: [JSON_RECORD], next: 'more' }], []]);
  });

  test('says how to continue, and why there is nothing', async () => {
    const noted = async (page: Partial<AuditPage>, keeps = true) =>
      (await audited([page], [], keeps)).noted;
    expect(await noted({ items: [RECORD], next: 'more' })).toEqual([
      'There are more. Continue with --after more',
    ]);
    expect(await noted({ next: 'more' })).toEqual([
      'No matches so far. There are more rows to search. Continue with --after more',
    ]);
    expect(await noted({})).toEqual(['No audit event matches.']);
    expect(await noted({}, false)).toEqual([
      'No audit events are stored, because oauth_server:audit:keep is off.',
    ]);
  });

  test('passes on each filter', async () => {
    const { asked } = await audited(
      [],
      [
        '--since=1d',
        '--until=2026-01-30',
        '--client=notes',
        '--person',
        'users',
        '1',
        '--authorization=one',
        '--type=consent_denied',
        '--limit=5',
        '--after=more',
      ],
    );
    expect(asked).toEqual([
      [
        {
          since: NOW - 86_400_000,
          until: Date.UTC(2026, 0, 30),
          clientId: 'notes',
          person: { provider: 'users', id: '1' },
          authorization: 'one',
          type: 'consent_denied',
        },
        { limit: 5, after: 'more' },
      ],
    ]);
  });

  test('fails with a message for values that it cannot use', async () => {
    const failed = async (...options: readonly string[]) => (await audited([], options)).failed;
    expect(await failed('--type=unknown')).toMatch(
      /^Unknown event type; use one of consent_granted, consent_denied, /,
    );
    expect(await failed('--since=soon')).toMatch(/^--since must be an age/);
    expect(await failed('--until=soon')).toMatch(/^--until must be an age/);
    const refused = new OutOfRangeError('The limit must be from 1 to 1000');
    for (const options of [[], ['--json-lines']])
      expect((await audited([refused], options)).failed).toBe(refused.message);
  });
});

describe('oauth:audit --json-lines', () => {
  const LINE = JSON.stringify(JSON_RECORD).replace('\u202E', '\\u202e');

  test('prints all pages, each event on one line', async () => {
    const pages = [
      { items: [RECORD], next: 'two' },
      { items: [], next: 'three' },
      { items: [RECORD, RECORD] },
    ];
    expect(await audited(pages, ['--json-lines'])).toEqual({
      printed: [LINE, LINE, LINE],
      noted: [],
      failed: null,
      asked: [
        [{}, { limit: 1000 }],
        [{}, { limit: 1000, after: 'two' }],
        [{}, { limit: 1000, after: 'three' }],
      ],
    });
  });

  test('prints one page with --limit, and says how to continue', async () => {
    const options = ['--json-lines', '--limit=1', '--after=one'];
    expect(await audited([{ items: [RECORD], next: 'two' }], options)).toEqual({
      printed: [LINE],
      noted: ['Continue with --after two'],
      failed: null,
      asked: [[{}, { limit: 1, after: 'one' }]],
    });
    expect(await audited([{ items: [RECORD] }], options)).toMatchObject({
      printed: [LINE],
      noted: [],
    });
  });
});
