import { describe, expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { Client } from '../store/client.ts';
import { ok, type Finding } from './checks.ts';
import { examine } from './doctor.ts';
import type { Subject } from './subject.ts';

const NOW = 1_800_000_000_000;
/** Nothing listens on this port. */
const ISSUER = 'http://127.0.0.1:1';

interface Options {
  readonly clients?: readonly Client[] | Error;
  readonly examinations?: readonly object[];
  readonly basePath?: string;
  readonly execute?: () => Promise<object>;
}

/** A server whose checks mostly fail, because it has only a few members. */
function subjectWith({
  clients = [],
  examinations = [],
  basePath = '',
  execute = async () => ({ rows: [], affected: 0 }),
}: Options) {
  const errors: unknown[] = [];
  const application = {
    database: { dialect: 'sqlite', execute },
    migrations: async () => [],
  } as unknown as Subject['application'];
  const server = {
    issuer: `${ISSUER}${basePath}`,
    origin: ISSUER,
    basePath,
    mountPath: basePath,
    examinations,
    host: { log: { error: (...line: unknown[]) => void errors.push(line) } },
    config: { login_route: '/login', routes: false, audience: 'urn:api' },
    resources: [],
    demands: [],
    arrivals: [],
    offers: () => true,
    profiles: { servers: null, of: () => null },
    takesKeys: false,
    keys: { list: async () => [] },
    clock: () => NOW,
    clients: {
      async page() {
        if (clients instanceof Error) throw clients;
        return { items: clients, next: null };
      },
    },
  } as unknown as Subject['server'];
  return { application, server, errors };
}

async function examined(options: Options = {}, online?: { readonly online: true }) {
  const { application, server, errors } = subjectWith(options);
  const report =
    online === undefined
      ? await examine(application, server)
      : await examine(application, server, { ...online, patience: 1 });
  return { ...report, errors, parts: report.checks.map(({ part }) => part) };
}

/** An examination of a feature. */
const part = (name: string, of?: string, findings: readonly Finding[] | null = [ok(name)]) => ({
  part: name,
  ...(of === undefined ? {} : { of }),
  ...(findings === null ? {} : { findings: async () => findings }),
});

describe('the doctor', () => {
  test('examines the parts in order, with those of features among them', async () => {
    const examinations = [
      part('registered', 'registered clients', [ok('first'), ok('second')]),
      part('silent', 'registered clients', null),
      part('others', 'clients'),
      part('plain'),
      part('mute', 'application', null),
      part('application', 'application'),
    ];
    const { parts, checks } = await examined({ examinations });
    expect(parts).toEqual([
      'configuration',
      'store',
      'schema',
      'durability',
      'database file',
      'signing key',
      'key rotation',
      'sign-in route',
      'endpoints',
      'csrf_exempt_routes',
      'plain',
      'application',
      'views',
      'password hasher',
      'clients',
      'registered',
      'registered',
      'others',
    ]);
    expect(checks.filter((each) => each.part === 'registered')).toEqual([
      { part: 'registered', ...ok('first') },
      { part: 'registered', ...ok('second') },
    ]);
  });

  test('names the settings of the issuer', async () => {
    const [first] = (await examined()).checks;
    expect(first).toEqual({
      part: 'configuration',
      ...ok(`the issuer is ${ISSUER}, from public_url`),
    });
    const [below] = (await examined({ basePath: '/auth' })).checks;
    expect(below?.detail).toBe(`the issuer is ${ISSUER}/auth, from public_url and base_path`);
  });

  test('reports a check that throws, and logs it', async () => {
    const { checks, healthy, errors } = await examined();
    expect(healthy).toBe(false);
    expect(checks.find((each) => each.part === 'views')).toMatchObject({ outcome: 'failing' });
    expect(errors).toContainEqual([
      'The doctor could not check {part}: {exception}',
      { part: 'password hasher', exception: expect.any(Error) as Error },
    ]);
  });

  test('skips the parts that need the store if it does not answer', async () => {
    const execute = async () => {
      throw new Error('it is away');
    };
    const examinations = [
      part('others', 'clients'),
      part('plain'),
      part('mine', 'registered clients'),
    ];
    const { checks } = await examined({ execute, examinations });
    const skipped = checks.filter(
      ({ detail }) => detail === 'not checked: the database cannot be reached',
    );
    expect(skipped.map((each) => `${each.outcome} ${each.part}`)).toEqual([
      'skipped schema',
      'skipped durability',
      'skipped database file',
      'skipped clients',
      'skipped others',
    ]);
    expect(checks).toContainEqual({ part: 'plain', ...ok('plain') });
    expect(checks.map((each) => each.part)).not.toContain('mine');
  });

  test('lists the clients whose previous secret still works', async () => {
    const until = (id: string, time: number | null, changes: Partial<Client> = {}) =>
      storedClient(id, NOW - 1000, { previousSecretExpiresAt: time, ...changes });
    const { open_rotations } = await examined({
      clients: [
        until('none', null),
        until('over', NOW),
        until('open', NOW + 1999),
        until('gone', NOW + 1999, { revokedAt: 1 }),
      ],
    });
    expect(open_rotations).toEqual([
      {
        client_id: 'open',
        client_name: 'An application',
        previous_secret_expires_at: NOW / 1000 + 1,
      },
    ]);
    expect((await examined({ clients: new Error('away') })).open_rotations).toEqual([]);
  });

  test('with online examines the public address, too', async () => {
    const { parts } = await examined();
    expect(parts).not.toContain('public address');
    const online = await examined({}, { online: true });
    expect(online.parts.slice(parts.length)).toEqual([
      'public address',
      'public key set',
      'proxies',
    ]);
    expect(online.checks.at(-3)).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('refuses connections') as string,
    });
  });
});
