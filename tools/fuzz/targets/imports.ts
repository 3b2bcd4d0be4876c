import { ALGORITHMS } from '../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../test/support/grant-types.ts';
import { demands } from '../../../packages/portico/src/store/client-demands.fixture.ts';
import { checkRegistration } from '../../../packages/portico/src/clients/registration.ts';
import { createScopeCatalog } from '../../../packages/portico/src/tokens/scopes.ts';
import { readClientId, readClientRecord } from '../../../packages/import/src/client-records.ts';
import {
  createHashReader,
  plainSecret,
  getShape,
} from '../../../packages/import/src/secret-hashes.ts';
import { importSubjects } from '../../../packages/import/src/subjects.ts';
import { readRecords } from '../../../packages/import/src/import-file.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scratch } from '../support/scratch.ts';
import { NO_FIELDS } from '../../../packages/portico/src/store/no-fields.fixture.ts';
import type { Server } from '../../../packages/portico/src/server.ts';
import { Profiles } from '../../../packages/portico/src/profiles.ts';
import { hold, unless, unlessAsync, type Target } from '../target.ts';

const NOW = 1_800_000_000_000;
/**
 * Compares errors by name: the import throws the errors of the built package, and the registration
 * throws those of the sources.
 */
const refuses = (error: unknown) =>
  error instanceof Error && ['RegistrationError', 'AccessError'].includes(error.name);
const catalog = createScopeCatalog({ 'notes:read': 'Read' });
const keys = {
  algorithms: ALGORITHMS,
  all: async () => [{ algorithm: 'RS256' }, { algorithm: 'ES256' }],
} as never;
const profiles = new Profiles([]);
const server = {
  scopes: catalog,
  keys,
  profiles,
  grantTypes: () => GRANT_TYPES,
  fetching: {},
  furtherMetadata: NO_FIELDS,
} as unknown as Server;
const hasher = {
  hash: async (secret: string) =>
    `$cheap$x$${'A'.repeat(22)}$${Buffer.from(secret).toString('base64').slice(0, 43).padEnd(43, 'B').replaceAll('=', 'C')}`,
  verify: async () => false,
};

class Failed extends Error {}

export const target: Target = {
  about:
    'files of clients and subjects from other servers: records, secrets, hashes, JSON and lines of it',
  seeds: [
    JSON.stringify([
      {
        client_id: 'one',
        client_name: 'One',
        redirect_uris: ['https://client.example/cb'],
        scope: 'openid notes:read',
        client_secret: 'a secret of some length',
      },
    ]),
    '{"client_id":"a","client_name":"A","grant_types":["client_credentials"],"scope":["notes:read"]}\n{"client_id":"b","client_name":"B","redirect_uris":"[\\"https://b.example/cb\\"]","client_secret_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}',
    JSON.stringify({
      client_id: 'c',
      client_name: 'C',
      redirect_uris: ['http://127.0.0.1/cb'],
      token_endpoint_auth_method: 'none',
      client_id_issued_at: 1_700_000_000,
      logo_uri: 'https://x.example',
      response_types: ['code', 'token'],
    }),
    JSON.stringify({
      client_id: 'd',
      client_name: 'D',
      redirect_uris: ['https://client.example/cb'],
      client_secret_hash: `pbkdf2_sha256$1000$salt$${'A'.repeat(43)}=`,
      client_secret_expires_at: 1_900_000_000,
    }),
    JSON.stringify({
      client_id: 'e',
      client_name: 'E',
      redirect_uris: ['https://client.example/cb'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: '{"keys":[]}',
    }),
    '[{"provider":"users","id":"1","sub":"abc"},{"provider":"users","id":"2","sub":"abc"}]',
  ],
  dictionary: [
    'client_id',
    'client_name',
    'client_secret',
    'client_secret_hash',
    'client_secret_expires_at',
    'client_id_issued_at',
    'redirect_uris',
    'grant_types',
    'response_types',
    'scope',
    'jwks',
    'jwks_uri',
    'application_type',
    'subject_type',
    'public',
    'pairwise',
    'token_endpoint_auth_method',
    'none',
    'private_key_jwt',
    'client_secret_basic',
    'dpop_bound_access_tokens',
    'provider',
    'id',
    'sub',
    'sha256:',
    'pbkdf2_sha256$',
    '$argon2id$',
    '$2b$12$',
    '\n',
    '\u{FEFF}',
    'native',
    'web',
  ],
  async start() {
    const file = path.join(scratch(), 'records');
    const readHash = await createHashReader(hasher, 100_000);
    const context = {
      fail(message: string): never {
        hold(!/fuzz-secret/.test(message), 'a line tells of the file');
        throw new Failed(message);
      },
    };
    return async (input) => {
      writeFileSync(file, input);
      const records = await unlessAsync(
        (error) => error instanceof Failed,
        () => readRecords(context as never, file),
      );
      if (records === null) return;
      hold(records.length > 0, 'a file without records was read');
      for (const record of records.slice(0, 20)) {
        const read = unless(refuses, () =>
          readClientRecord(record, NOW, {
            furtherFields: [],
            demands: demands(),
            rights: GRANT_TYPES.rights,
          }),
        );
        const id = readClientId(record);
        if (read === null) continue;
        hold(
          id === read.clientId && /^[\x21-\x7E]{1,255}$/.test(read.clientId),
          'a client id that nobody can send',
        );
        hold(
          read.createdAt === null || (Number.isInteger(read.createdAt) && read.createdAt <= NOW),
          'a client of the future',
        );
        hold(
          !(
            read.registration.public === true &&
            (read.secret !== null || read.secretHash !== null)
          ),
          'a public client with a secret',
        );
        hold((read.registration.grants ?? []).length > 0, 'a client that may do nothing');
        const sent = record as Record<string, unknown>;
        if (sent['dpop_bound_access_tokens'] === true)
          hold(read.registration.dpopBoundAccessTokens === true, 'a demand was forgotten');
        const { secret, secretHash } = read;
        if (secret !== null && unless(refuses, () => plainSecret(secret, hasher)) !== null)
          hold(
            secret.length >= 16 && !secret.startsWith('$2') && !secret.startsWith('sha256:'),
            'a secret that can be guessed, or a hash',
          );
        if (secretHash !== null && unless(refuses, () => readHash(secretHash)) !== null)
          hold(
            /^(?:sha256:|pbkdf2_sha256\$)/.test(secretHash) || getShape(secretHash) !== null,
            'a hash that nobody can verify',
          );
        const checked = await unlessAsync(refuses, () =>
          checkRegistration(read.registration, server),
        );
        if (checked !== null)
          hold(
            checked.scopes.every((each) => catalog.has(each)),
            'a scope that is not offered',
          );
      }
      const subjects = await unlessAsync(refuses, () =>
        importSubjects(
          {
            store: {
              subjects: {
                findSubject: async () => null,
                findPersonOfSubject: async () => null,
                insertSubject: async () => true,
              },
            },
            host: { loadAccount: async () => ({}) },
            audit: async () => {},
          } as never,
          records,
          { dryRun: false },
        ),
      );
      if (subjects === null) return;
      hold(subjects.subjects.length === records.length, 'a record is told of twice, or never');
      const isRefused = subjects.subjects.some(({ outcome }) => outcome === 'refused');
      hold(!(subjects.written && isRefused), 'a part of a file was written');
      for (const [at, { outcome }] of subjects.subjects.entries()) {
        if (outcome !== 'imported') continue;
        const { sub } = records[at] as { sub: string };
        hold(/^[\x21-\x7E]{1,255}$/.test(sub), 'a subject that cannot be told was taken');
      }
    };
  },
};
