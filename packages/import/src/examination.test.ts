// @engines sqlite: which clients the doctor names; test/importing.test.ts runs on every engine
import { createHash } from 'node:crypto';
import { migrationStatus, oauthServerMigrations, type AuthorizationServer } from 'portico';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  openImporting,
  PLAIN,
  type ImportingServers,
} from '../../../test/support/importing-server.ts';

const COMMAND = 'npx portico oauth:client:rotate-secret';

/** Opens a new database for the running test. */
async function open(hasSchema = true): Promise<ImportingServers> {
  const servers = await openImporting(hasSchema);
  onTestFinished(() => servers.close());
  return servers;
}

async function findings({ database }: ImportingServers, server: AuthorizationServer) {
  const examination = server.examinations.find(({ part }) => part === 'imported secrets');
  const migrations = () => migrationStatus(database, oauthServerMigrations);
  return examination?.findings?.({ database, migrations });
}

const record = (more: object) => ({
  client_name: 'Robot',
  grant_types: ['client_credentials'],
  scope: 'notes:read',
  client_secret: 'x'.repeat(20),
  ...more,
});
/** Stores the hash of a client, as an earlier release did, which did not check it. */
const store = ({ database }: ImportingServers, id: string, hash: string) =>
  database.execute('UPDATE oauth_clients SET secret_hash = ? WHERE client_id = ?', [hash, id]);

describe('the doctor check of imported secrets', () => {
  // @shows AS-41.9
  test('reports nothing while the schema is missing', async () => {
    const servers = await open(false);
    expect(await findings(servers, servers.serverWith())).toEqual([]);
  });

  // @shows AS-41.4, AS-41.9
  test('reports only active confidential clients that an operator registered', async () => {
    const servers = await open();
    const server = servers.serverWith();
    const { importing, clients } = server;
    const web = {
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      redirect_uris: ['https://client.example/cb'],
    };
    const ids = ['empty', 'empty-too', 'slow', 'sound', 'revoked', 'revoked-slow', 'registered'];
    await importing.clients([
      ...ids.map((id) => record({ client_id: id })),
      record({ client_id: 'public', ...web }),
    ]);
    expect(await findings(servers, server)).toEqual([]);
    for (const id of ['empty', 'empty-too', 'revoked', 'registered'])
      await store(servers, id, await PLAIN.hash(''));
    for (const id of ['slow', 'revoked-slow'])
      await store(servers, id, `imported$pbkdf2_sha256$30$c2FsdA$${await PLAIN.hash('x')}`);
    for (const id of ['revoked', 'revoked-slow']) await clients.revoke(id);
    await servers.database.execute(
      "UPDATE oauth_clients SET registered_by = 'registration' WHERE client_id = 'registered'",
    );
    expect(await findings(servers, server)).toMatchObject([
      {
        detail:
          'these clients cannot authenticate, because their secrets need more PBKDF2 iterations ' +
          'than the configured maximum (0): slow',
        remedy:
          'set oauth_server:imported_pbkdf2_iterations to 30. Or give each client a new secret ' +
          `(${COMMAND})`,
      },
      {
        detail: expect.stringMatching(
          /^these clients have an empty secret, .*: (?:empty, empty-too|empty-too, empty)$/,
        ) as string,
        remedy: expect.stringContaining(`(${COMMAND} --now)`) as string,
      },
    ]);
    const allowing = servers.serverWith({ section: { imported_pbkdf2_iterations: 30 } });
    expect(await findings(servers, allowing)).toHaveLength(1);
  });

  // @shows AS-41.9
  test('checks at most 500 secrets, starting with those of imported clients', async () => {
    const servers = await open();
    let tried = 0;
    const server = servers.serverWith({
      passwordHasher: {
        ...PLAIN,
        async verify(secret, hash) {
          tried += 1;
          return PLAIN.verify(secret, hash);
        },
      },
    });
    const own = (at: number) => at.toString(16).padStart(32, '0');
    const many = (count: number, id: (at: number) => string) =>
      server.importing.clients(
        Array.from({ length: count }, (_, at) => record({ client_id: id(at) })),
      );
    await many(500, own);
    // An id with more characters is not one of this server.
    const foreign = [`${own(600)}0`, `x${own(601)}`, own(602)] as const;
    await server.importing.clients(foreign.map((id) => record({ client_id: id })));
    const named = async () => {
      tried = 0;
      const [found] = (await findings(servers, server)) ?? [];
      return found?.detail.replace(/^.*: /s, '').split(', ').toSorted() ?? [];
    };
    for (const id of foreign.slice(0, 2)) await store(servers, id, await PLAIN.hash(''));
    // The id is like one of this server, but the hash comes from another one.
    const digestOfNothing = createHash('sha256').digest('hex');
    await store(servers, foreign[2], `imported$sha256$${await PLAIN.hash(digestOfNothing)}`);
    expect(await named()).toEqual(foreign.toSorted());
    expect(tried).toBe(500);

    await many(600, (at) => `other-${at}`);
    await named();
    expect(tried).toBe(500);
  });
});
