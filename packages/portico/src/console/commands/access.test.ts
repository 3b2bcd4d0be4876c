import { OutOfRangeError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { AccessError } from '../../errors.ts';
import type { HeldAuthorization } from '../../store/authorization-search.ts';
import { addAuthorizationList } from './authorization-list.ts';
import { addAuthorizationRevoke } from './authorization-revoke.ts';
import { addPersonErase } from './person-erase.ts';
import { addPersonRevoke } from './person-revoke.ts';
import { addPrune } from './prune.ts';
import { addRestored } from './restored.ts';
import { runCommand } from './run-command.fixture.ts';

const NOW = Date.UTC(2026, 0, 31);
const ADA = { provider: 'users', id: '4"2' };

const AUTHORIZATION: HeldAuthorization = {
  id: 'one',
  client: { id: 'notes', name: 'Notes', registeredBy: 'operator' },
  person: ADA,
  subject: 'sub',
  scopes: ['openid', 'notes:read'],
  audience: null,
  givenBy: null,
  createdAt: Date.UTC(2026, 0, 1),
  usedAt: Date.UTC(2026, 0, 2),
  expiresAt: Date.UTC(2026, 0, 3),
};
const FULL: HeldAuthorization = {
  ...AUTHORIZATION,
  client: { id: 'diary', name: 'Di\nary', registeredBy: 'registration' },
  audience: 'https://api.example',
  givenBy: 'https://idp.example',
  usedAt: null,
};

describe('oauth:authorization:list', () => {
  async function listed(
    answer:
      { readonly items?: readonly HeldAuthorization[]; readonly next?: string | null } | Error,
    ...options: string[]
  ) {
    const asked: unknown[] = [];
    const server = {
      clock: () => NOW,
      clients: { find: async (id: string) => (id === 'notes' ? {} : null) },
      access: {
        async list(...given: unknown[]) {
          asked.push(given);
          if (answer instanceof Error) throw answer;
          return { items: [], next: null, ...answer };
        },
      },
    };
    const add = addAuthorizationList;
    return { ...(await runCommand(add, server, 'oauth:authorization:list', ...options)), asked };
  }

  test('shows who has access to what', async () => {
    const unknown = { ...AUTHORIZATION, usedAt: 'unknown' } as const;
    expect(await listed({ items: [AUTHORIZATION, FULL, unknown] })).toEqual({
      printed: [
        `one  Notes  (notes)
  person     "users" "4\\u{22}2"
  scopes     openid, notes:read
  since      2026-01-01T00:00:00.000Z
  refreshed  2026-01-02T00:00:00.000Z
  expires    2026-01-03T00:00:00.000Z

one  "Di\\u{a}ary"  (diary)
  person     "users" "4\\u{22}2"
  scopes     openid, notes:read
  audience   https://api.example
  given by   https://idp.example (the person's organization)
  since      2026-01-01T00:00:00.000Z
  refreshed  never
  expires    2026-01-03T00:00:00.000Z

one  Notes  (notes)
  person     "users" "4\\u{22}2"
  scopes     openid, notes:read
  since      2026-01-01T00:00:00.000Z
  refreshed  unknown
  expires    2026-01-03T00:00:00.000Z`,
      ],
      noted: [],
      failed: null,
      asked: [[{}, {}]],
    });
  });

  test('with --json prints only JSON', async () => {
    const row = {
      id: 'one',
      client_id: 'notes',
      client_name: 'Notes',
      registered_by: 'operator',
      person: ADA,
      subject: 'sub',
      scopes: ['openid', 'notes:read'],
      audience: null,
      created_at: '2026-01-01T00:00:00.000Z',
      used: 'known',
      used_at: '2026-01-02T00:00:00.000Z',
      expires_at: '2026-01-03T00:00:00.000Z',
    };
    const items = [AUTHORIZATION, FULL, { ...AUTHORIZATION, usedAt: 'unknown' as const }];
    expect(await listed({ items, next: 'x' }, '--json')).toMatchObject({
      printed: [
        {
          items: [
            row,
            {
              ...row,
              client_id: 'diary',
              client_name: 'Di\nary',
              registered_by: 'registration',
              audience: 'https://api.example',
              given_by: 'https://idp.example',
              used: 'never',
              used_at: null,
            },
            { ...row, used: 'unknown', used_at: null },
          ],
          next: 'x',
        },
      ],
      noted: [],
    });
    const { printed } = await listed({ items }, '--json');
    expect((printed as [{ items: object[] }])[0].items[0]).not.toHaveProperty('given_by');
  });

  test('says whether there is more', async () => {
    const more = 'Continue with --after x';
    expect((await listed({ items: [FULL], next: 'x' })).noted).toEqual([
      `There may be more. ${more}`,
    ]);
    expect(await listed({ next: 'x' })).toMatchObject({
      printed: [],
      noted: [`No matches so far. There are more rows to search. ${more}`],
    });
    expect(await listed({})).toMatchObject({
      printed: [],
      noted: ['No active authorization matches.'],
    });
  });

  test('passes its filters', async () => {
    const options = [
      '--client=notes',
      '--person',
      'users',
      '42',
      '--scope=a',
      '--unused-since=1d',
      '--limit=5',
      '--after=x',
    ];
    expect((await listed({}, ...options)).asked).toStrictEqual([
      [
        {
          clientId: 'notes',
          person: { provider: 'users', id: '42' },
          scope: 'a',
          unusedSince: NOW - 86_400_000,
        },
        { limit: 5, after: 'x' },
      ],
    ]);
    expect((await listed({})).asked).toStrictEqual([[{}, {}]]);
  });

  test.each([
    [['--client=other'], 'No client has this id; see oauth:client:list'],
    [['--person', 'users'], '--person needs two values'],
    [['--unused-since=x'], '--unused-since must be an age'],
  ])('refuses %j', async (options, says) => {
    expect(await listed({}, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      asked: [],
    });
  });

  test('ends with the reason of a refusal', async () => {
    const refused = await listed(new OutOfRangeError('The limit must be 1 to 1000'));
    expect(refused).toMatchObject({ failed: 'The limit must be 1 to 1000', printed: [] });
  });
});

/** A server whose method of `access` answers with this value and reports progress. */
function ending(method: string, answer: unknown) {
  const asked: unknown[] = [];
  const access = {
    async [method](...given: unknown[]) {
      asked.push(given);
      const { report } = (given.at(-1) ?? {}) as { readonly report?: (count: number) => void };
      report?.(7);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asked, server: { access } };
}

describe('oauth:authorization:revoke', () => {
  const rows = [
    { id: 'one', clientId: 'notes', person: ADA, revoked: true },
    { id: 'two', clientId: 'diary', person: ADA, revoked: false },
  ];

  test('says what was revoked, and what already was', async () => {
    const { asked, server } = ending('revokeAuthorizations', rows);
    const run = (...more: string[]) =>
      runCommand(
        addAuthorizationRevoke,
        server,
        'oauth:authorization:revoke',
        'one',
        'two',
        ...more,
      );
    const whose = String.raw`of "users" "4\u{22}2" for the client`;
    expect((await run()).printed).toEqual([
      `The authorization one ${whose} notes is revoked.\n` +
        `The authorization two ${whose} diary was already revoked.`,
    ]);
    expect(asked).toEqual([[['one', 'two'], { by: 'console' }]]);
    expect((await run('--json')).printed).toEqual([
      {
        items: [
          { id: 'one', client_id: 'notes', person: ADA, revoked: true },
          { id: 'two', client_id: 'diary', person: ADA, revoked: false },
        ],
      },
    ]);
  });

  test('ends with the reason of a refusal', async () => {
    const { server } = ending(
      'revokeAuthorizations',
      new AccessError('No authorization has the id'),
    );
    expect(
      await runCommand(addAuthorizationRevoke, server, 'oauth:authorization:revoke', 'one'),
    ).toMatchObject({ failed: 'No authorization has the id', printed: [] });
  });
});

describe('oauth:person:revoke', () => {
  async function revoked(answer: unknown, ...options: string[]) {
    const { asked, server } = ending('revokePerson', answer);
    const args = ['oauth:person:revoke', 'users', '4"2', ...options];
    return { ...(await runCommand(addPersonRevoke, server, ...args)), asked };
  }

  test.each([
    [1, 0],
    [0, 2],
    [3, 4],
  ])('says that it ended %i authorizations and %i requests', async (authorizations, requests) => {
    expect(await revoked({ authorizations, requests })).toEqual({
      printed: [
        `Ended ${authorizations} authorizations of "users" "4\\u{22}2", and ${requests} open ` +
          'consent requests.',
      ],
      noted: ['Ending authorizations: 7 ended'],
      failed: null,
      asked: [[ADA, { by: 'console', report: expect.any(Function) as unknown }]],
    });
  });

  test('says that there was nothing to end', async () => {
    expect((await revoked({ authorizations: 0, requests: 0 })).printed).toEqual([
      String.raw`"users" "4\u{22}2" had no access to revoke.`,
    ]);
    expect((await revoked({ authorizations: 0, requests: 0 }, '--json')).printed).toEqual([
      { person: ADA, authorizations: 0, requests: 0 },
    ]);
    expect(await revoked(new AccessError('No such person'))).toMatchObject({
      failed: 'No such person',
    });
  });
});

describe('oauth:person:erase', () => {
  const ERASED = { authorizations: 1, requests: 2, subject: true, events: 3 };
  async function erased(answer: unknown, ...options: string[]) {
    const { asked, server } = ending('erasePerson', answer);
    const args = ['oauth:person:erase', 'users', '4"2', ...options];
    return { ...(await runCommand(addPersonErase, server, ...args)), asked };
  }

  test('says what was removed', async () => {
    const person = String.raw`of the person "users" "4\u{22}2"`;
    expect(await erased(ERASED, '--yes')).toEqual({
      printed: [
        `Removed 1 authorizations, 2 requests and the subject ${person}; 3 stored audit events ` +
          'now show a pseudonym.',
      ],
      noted: ['Removing authorizations: 7 removed'],
      failed: null,
      asked: [[ADA, { by: 'console', report: expect.any(Function) as unknown }]],
    });
    expect((await erased({ ...ERASED, subject: false }, '--yes')).printed).toEqual([
      expect.stringContaining(`and no subject ${person}`),
    ]);
    expect((await erased(ERASED, '--yes', '--json')).printed).toEqual([
      { authorizations: 1, requests: 2, subject: true, audit_events: 3 },
    ]);
  });

  test('changes nothing without a confirmation', async () => {
    expect(await erased(ERASED)).toMatchObject({
      printed: [],
      failed: expect.stringMatching(
        /^Everything stored about the person "users" "4\\u\{22\}2" will be removed\. .* add --yes\.$/,
      ) as string,
      asked: [],
    });
  });

  test('ends with the reason of a refusal', async () => {
    expect(await erased(new AccessError('No such person'), '--yes')).toMatchObject({
      failed: 'No such person',
    });
  });
});

describe('oauth:restored', () => {
  const ENDED = { authorizations: 1, clientTokens: 2, requests: 3, initialAccessTokens: 4 };
  async function restored(...options: string[]) {
    const { asked, server } = ending('endAll', ENDED);
    return { ...(await runCommand(addRestored, server, 'oauth:restored', ...options)), asked };
  }

  test('says what was ended, and what to do next', async () => {
    expect(await restored('--yes')).toEqual({
      printed: [
        'Ended 1 authorizations, 2 client_credentials tokens, 3 open consent requests and 4 ' +
          'initial access tokens.',
      ],
      noted: [
        'Ending authorizations: 7 ended',
        'Clients and people are as they were when the backup was made. Repeat what you did since ' +
          'then: revoke clients (oauth:client:revoke), rotate secrets (oauth:client:rotate-secret) ' +
          'and erase people (oauth:person:erase).',
      ],
      failed: null,
      asked: [[{ by: 'console', report: expect.any(Function) as unknown }]],
    });
    expect(await restored('--yes', '--json')).toMatchObject({
      printed: [{ authorizations: 1, client_tokens: 2, requests: 3, initial_access_tokens: 4 }],
      noted: ['Ending authorizations: 7 ended'],
    });
  });

  test('ends nothing without a confirmation', async () => {
    expect(await restored()).toMatchObject({
      printed: [],
      failed: expect.stringMatching(
        /^This command ends all authorizations .* add --yes\.$/,
      ) as string,
      asked: [],
    });
  });
});

describe('oauth:prune', () => {
  const expiring = [
    { kind: 'auditEvents', called: 'audit events', which: 'are older than a year' },
    { kind: 'logos', called: 'client logos', which: 'no client has' },
  ];
  const pruned = (clients: number, ...options: string[]) => {
    const removed = {
      families: 1,
      accessTokens: 2,
      consentRequests: 3,
      clients,
      auditEvents: 5,
      logos: 6,
    };
    const prune = async (report: (until: object) => void) => {
      report({ ...removed, logos: 0 });
      return removed;
    };
    return runCommand(addPrune, { expiring, prune }, 'oauth:prune', ...options);
  };
  const progress = (clients: number) =>
    `Removing expired rows: 1 authorizations, 2 access tokens, 3 consent requests, ${clients} clients, 5 audit events, 0 client logos`;

  test('says what was removed', async () => {
    expect(await pruned(1)).toEqual({
      printed: [
        'Removed 1 authorizations, 2 access tokens and 3 consent requests.',
        'Removed 1 unused clients that no operator registered.',
        'Removed 5 audit events that are older than a year.',
        'Removed 6 client logos that no client has.',
      ],
      noted: [progress(1)],
      failed: null,
    });
    expect((await pruned(0)).printed).toHaveLength(3);
    expect(await pruned(0, '--json')).toEqual({
      printed: [
        {
          families: 1,
          access_tokens: 2,
          consent_requests: 3,
          clients: 0,
          audit_events: 5,
          client_logos: 6,
        },
      ],
      noted: [progress(0)],
      failed: null,
    });
  });
});
