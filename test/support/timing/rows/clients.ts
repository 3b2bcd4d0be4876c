import { createHash, pbkdf2Sync, randomUUID } from 'node:crypto';
import { ASSERTION_TYPE, newKey, signed, type Algorithm } from '../../assertions.ts';
import { ITERATIONS, type World } from '../world.ts';
import {
  A_CLIENT,
  basic,
  but,
  BYTES,
  cycle,
  hex,
  newClient,
  post,
  random,
  REFRESHING,
  SAME_WAY,
  UNKNOWN,
  type NewClient,
  type Row,
} from './row.ts';

type Offered = (client: NewClient) => readonly [id: string, secret: string];

/**
 * A row with two secrets that are sent with Basic to the token endpoint. `known` prepares the
 * client.
 */
function ofSecrets(
  name: string,
  classes: readonly [string, string],
  offered: readonly [Offered, Offered],
  known: (world: World) => Promise<NewClient> = newClient,
): Row {
  return {
    name,
    classes,
    must: ['argon2'],
    ...(classes === BYTES ? SAME_WAY : A_CLIENT),
    async prepare(world) {
      const client = await known(world);
      const request = (which: Offered) => () =>
        post(world, '/oauth/token', REFRESHING, basic(...which(client)));
      return { requests: [request(offered[0]), request(offered[1])], status: 401 };
    },
  };
}

const wrong: Offered = ({ id }) => [id, random()];
const unknown: Offered = () => [hex(), random()];

/**
 * Returns a client whose secret was verified before. A new secret is first compared with the
 * remembered one.
 */
async function usedClient(world: World): Promise<NewClient> {
  const client = await newClient(world);
  const answer = await world.send(
    post(world, '/oauth/token', REFRESHING, basic(client.id, client.secret)),
  );
  if (answer.status !== 400) throw new Error(`The secret was answered ${answer.status}`);
  return client;
}

async function rotatingClient(world: World): Promise<NewClient> {
  const client = await newClient(world);
  await world.server.clients.rotateSecret(client.id);
  return client;
}

/** Returns a client whose secret was imported from another server, as this hash of a hash. */
async function importedClient(world: World, kept: string, digest: string): Promise<NewClient> {
  const client = await newClient(world);
  const hash = kept + (await world.hasher.hash(digest));
  await world.application.database.execute(
    'UPDATE oauth_clients SET secret_hash = ? WHERE client_id = ?',
    [hash, client.id],
  );
  return client;
}

const pbkdf2 = (iterations: number) => (world: World) => {
  const digest = pbkdf2Sync(random(), 'salt', iterations, 32, 'sha256').toString('hex');
  const salt = Buffer.from('salt').toString('base64url');
  return importedClient(world, `imported$pbkdf2_sha256$${iterations}$${salt}$`, digest);
};

const sha256 = (world: World) =>
  importedClient(world, 'imported$sha256$', createHash('sha256').update(random()).digest('hex'));

const SECRETS: readonly Row[] = [
  ofSecrets('Client secret, by its bytes', BYTES, [
    ({ id, secret }) => [id, but(secret, 0)],
    ({ id, secret }) => [id, but(secret, -1)],
  ]),
  {
    ...ofSecrets(
      'Client secret that was right before, by its bytes',
      BYTES,
      [({ id, secret }) => [id, but(secret, 0)], ({ id, secret }) => [id, but(secret, -1)]],
      usedClient,
    ),
    must: ['argon2', 'timingSafeEqual 43'],
  },
  ofSecrets('Client, Basic', ['a wrong secret', UNKNOWN], [wrong, unknown]),
  {
    ...ofSecrets('Client, in the form', ['a wrong secret', UNKNOWN], [wrong, unknown]),
    async prepare(world) {
      const client = await newClient(world);
      const request = (which: Offered) => () => {
        const [client_id, client_secret] = which(client);
        return post(world, '/oauth/token', { ...REFRESHING, client_id, client_secret });
      };
      return { requests: [request(wrong), request(unknown)], status: 401 };
    },
  },
  ofSecrets(
    'Client in the overlap of a rotation',
    ['a wrong secret', UNKNOWN],
    [wrong, unknown],
    rotatingClient,
  ),
  ofSecrets(
    'Public client with a secret',
    ['a client without a secret', UNKNOWN],
    [wrong, unknown],
    (world) => newClient(world, { public: true }),
  ),
  ofSecrets(
    'Revoked client',
    ['a client that was revoked', UNKNOWN],
    [wrong, unknown],
    async (world) => {
      const client = await newClient(world);
      await world.server.clients.revoke(client.id);
      return client;
    },
  ),
  ofSecrets('Imported secret, SHA-256', ['a wrong secret', UNKNOWN], [wrong, unknown], sha256),
  ofSecrets(
    'Imported secret, PBKDF2, fewer iterations',
    ['a wrong secret', UNKNOWN],
    [wrong, unknown],
    pbkdf2(4),
  ),
  ofSecrets(
    'Imported secret, PBKDF2',
    ['a wrong secret', UNKNOWN],
    [wrong, unknown],
    pbkdf2(ITERATIONS),
  ),
];

function ofAssertions(algorithm: Algorithm, registered: Algorithm | null): Row {
  const of =
    registered === null ? 'that has a secret' : registered === algorithm ? '' : `of ${registered}`;
  return {
    name: `private_key_jwt, ${algorithm}`,
    classes: [
      ['a client', of, 'and a wrong signature'].filter((text) => text !== '').join(' '),
      UNKNOWN,
    ],
    must: ['verify'],
    ...A_CLIENT,
    async prepare(world) {
      const [own, other] = [registered === null ? null : newKey(registered), newKey(algorithm)];
      const keys = own === null ? {} : { jwks: { keys: [own.jwk] } };
      const client = await newClient(world, keys);
      const assertion = (id: string) => {
        const now = Math.floor(world.now / 1000);
        const claims = {
          iss: id,
          sub: id,
          aud: world.url,
          iat: now,
          exp: now + 60,
          jti: randomUUID(),
        };
        return signed(other, { alg: algorithm }, claims);
      };
      const pool = (id: () => string) => cycle(() => assertion(id()));
      const request = (next: () => string) => () =>
        post(world, '/oauth/token', {
          ...REFRESHING,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: next(),
        });
      return { requests: [request(pool(() => client.id)), request(pool(hex))], status: 401 };
    },
  };
}

export const CLIENTS: readonly Row[] = [
  ...SECRETS,
  ofAssertions('ES256', 'ES256'),
  ofAssertions('RS256', 'RS256'),
  ofAssertions('ES256', 'RS256'),
  ofAssertions('ES256', null),
];
