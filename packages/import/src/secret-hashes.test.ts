// @engines sqlite: it tests which secrets are accepted; test/importing.test.ts runs on every engine
import { createHash, pbkdf2Sync } from 'node:crypto';
import type { PasswordHasher } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  openImporting,
  PLAIN,
  type ImportingServers,
} from '../../../test/support/importing-server.ts';

const SECRET = 'a-secret-of-the-other-server-1234';
const DIGEST = createHash('sha256').update(SECRET).digest();
const HEXADECIMAL = DIGEST.toString('hex');
const BASE64 = DIGEST.toString('base64');
const BASE64URL = DIGEST.toString('base64url');
const UNKNOWN = 'client_secret_hash has an unknown format';
const DIFFERENT =
  'a client with this id already exists, with a different secret; to replace the secret, use ' +
  'oauth:client:rotate-secret';

let servers: ImportingServers;
beforeAll(async () => {
  servers = await openImporting();
});
afterAll(() => servers.close());

/** Returns a record of a new client with this secret or hash. */
const record = (secret: Readonly<Record<string, unknown>>) => ({
  client_id: `imported-${crypto.randomUUID()}`,
  client_name: 'Robot',
  grant_types: ['client_credentials'],
  scope: 'notes:read',
  ...secret,
});

interface Judging {
  readonly passwordHasher?: PasswordHasher;
  readonly dryRun?: boolean;
}

/** Returns why a record is refused. Returns its outcome if it is not. */
async function judge(
  about: Readonly<Record<string, unknown>>,
  { passwordHasher = PLAIN, dryRun = true }: Judging = {},
): Promise<string> {
  const section = { imported_pbkdf2_iterations: 20 };
  const { importing } = servers.serverWith({ section, passwordHasher });
  const { clients } = await importing.clients([about], { dryRun });
  return clients[0]?.problem ?? clients[0]?.outcome ?? '';
}

function django(salt: string, iterations: number | string = 20): string {
  const value = pbkdf2Sync(SECRET, salt, 20, 32, 'sha256').toString('base64');
  return `pbkdf2_sha256$${iterations}$${salt}$${value}`;
}

/** Creates a host's hasher that writes its hashes in this format. */
const hasherWriting = (write: (digest: string) => string): PasswordHasher => {
  const hash = (secret: string) => write(createHash('sha512').update(secret).digest('hex'));
  return {
    hash: async (secret) => hash(secret),
    verify: async (secret, kept) => hash(secret) === kept,
  };
};
const bcrypt = (digest: string, cost = '2b$12') => `$${cost}$${digest.slice(0, 53)}`;
const phc = (digest: string, [salt, value]: readonly [number, number] = [22, 43], cost = 'm=64') =>
  `$argon2id$v=19$${cost}$${'s'.repeat(salt)}$${digest.repeat(2).slice(0, value)}`;

describe('an imported secret in plain text', () => {
  // @shows AS-41.3
  test.each([
    ['of 16 characters', 'x'.repeat(16)],
    ['of 1024 characters', 'x'.repeat(1024)],
    ['of every printable ASCII character at the ends', '~a secret of the other server ~'],
    ['with a hash after its beginning', 'my-$2b$-bcrypt$-{bcrypt}-sha256:'],
    ['of a scheme that no hasher writes', '$apr1$scrypt-is-not-this'],
    ['with other text in braces', '{noop}bcrypt}-and-$2b$'],
  ])('is accepted: %s', async (_, secret) => {
    expect(await judge(record({ client_secret: secret }))).toBe('imported');
  });

  // @shows AS-41.3
  test.each([
    ['of 15 characters', 'x'.repeat(15), 'must have at least 16 characters'],
    ['of 1025 characters', 'x'.repeat(1025), 'at most 1024 printable ASCII characters'],
    ['with a letter outside ASCII', `é${'x'.repeat(20)}`, 'at most 1024 printable ASCII'],
    ['that ends with a letter outside ASCII', `${'x'.repeat(20)}é`, 'at most 1024 printable ASCII'],
    ['with a line break', `${'x'.repeat(20)}\n`, 'at most 1024 printable ASCII characters'],
    ['that is blank', ' '.repeat(16), 'client_secret is blank; set a secret, or remove the field'],
    ['that is not a string', 12_345_678, 'client_secret must be a string'],
  ])('is refused: %s', async (_, secret, problem) => {
    expect(await judge(record({ client_secret: secret }))).toContain(problem);
  });

  // @shows AS-41.3
  test.each([
    '$2$12$aaaaaaaaaaaaaaaa',
    '$2a$12$aaaaaaaaaaaaaaaa',
    '$2b$12$aaaaaaaaaaaaaaaa',
    '$2x$12$aaaaaaaaaaaaaaaa',
    '$2y$12$aaaaaaaaaaaaaaaa',
    '$argon2$v=19$m=64$aaaaaaaa',
    '$argon2id$v=19$m=64$aaaaaaaa',
    '$scrypt$ln=17,r=8,p=1$aaaaaaaa',
    '$pbkdf2-sha256$29000$aaaaaaaa',
    'pbkdf2_sha256$20$salt$aaaaaaaa',
    'bcrypt$$2b$12$aaaaaaaa',
    'bcrypt_sha256$$2b$12$aaaaaaaa',
    'argon2$argon2id$v=19$m=64$aaaaaaaa',
    'scrypt$salt$16384$8$1$aaaaaaaa',
    'sha256:aaaaaaaaaaaaaaaaaaaa',
    // From the database of another Portico.
    'imported$sha256$$argon2id$v=19$m=64$aaaaaaaa',
    // As Spring Security stores hashes.
    '{bcrypt}$2a$10$aaaaaaaaaaaaaaaa',
    '{argon2}$argon2id$v=19$aaaaaaaa',
    '{scrypt}$e0801$aaaaaaaaaaaaaaaa',
    '{sha256}aaaaaaaaaaaaaaaaaaaaaaa',
    '{pbkdf2@SpringSecurity_v5_8}aaaaaaaaaaaaaaaa',
    '{SHA-1}aaaaaaaaaaaaaaaaaaaaaaaa',
    '{SHA-256}aaaaaaaaaaaaaaaaaaaaaa',
    '{MD4}aaaaaaaaaaaaaaaaaaaaaaaaaa',
    '{MD5}aaaaaaaaaaaaaaaaaaaaaaaaaa',
    '{ldap}{SSHA}aaaaaaaaaaaaaaaaaaa',
  ])('is refused if it looks like a hash: %s', async (secret) => {
    expect(await judge(record({ client_secret: secret }))).toBe(
      'client_secret looks like a hash; move it to client_secret_hash',
    );
  });
});

describe('an imported hash from a different server', () => {
  // @shows AS-41.3
  test.each([
    ['SHA-256 in hexadecimal digits', `sha256:${HEXADECIMAL}`],
    ['SHA-256 in base64', `sha256:${BASE64}`],
    ['SHA-256 in base64url', `sha256:${BASE64URL}`],
    ['PBKDF2 with a salt of one character', django('s')],
    ['PBKDF2 with a salt of 128 characters', django('s'.repeat(128))],
    ['PBKDF2 with a salt outside ASCII', django('sélé')],
    ['PBKDF2 with one iteration', django('salt', 1)],
  ])('is accepted: %s', async (_, hash) => {
    expect(await judge(record({ client_secret_hash: hash }))).toBe('imported');
  });

  // @shows AS-41.3
  test.each([
    ['text before SHA-256', `x sha256:${HEXADECIMAL}`],
    ['text after SHA-256', `sha256:${HEXADECIMAL}0`],
    ['SHA-256 in capital letters', `sha256:${'A'.repeat(64)}`],
    ['a digit alone', 'sha256:0'],
    ['a character alone', 'sha256:_'],
    ['a character with padding', 'sha256:A='],
    ['other characters', `sha256:${'!'.repeat(43)}`],
    ['other characters with padding', `sha256:${'!'.repeat(43)}=`],
    ['64 characters that are not hexadecimal digits', `sha256:${'z'.repeat(64)}`],
    ['text before PBKDF2', `x${django('salt')}`],
    ['text after PBKDF2', `${django('salt')}x`],
    ['PBKDF2 without iterations', django('salt', 0)],
    ['PBKDF2 with a zero before its iterations', django('salt', '020')],
    ['PBKDF2 with iterations that are not a number', django('salt', '1x')],
    ['PBKDF2 with a number of nine digits', django('salt', 100_000_000)],
    ['PBKDF2 without a salt', django('')],
    ['PBKDF2 with a salt of 129 characters', django('s'.repeat(129))],
    ['PBKDF2 with a dollar sign in its salt', django('s$t')],
    ['incomplete PBKDF2', 'pbkdf2_sha256$20$salt$A='],
    ['PBKDF2 with other characters', `pbkdf2_sha256$20$salt$${'!'.repeat(43)}=`],
  ])('is refused: %s', async (_, hash) => {
    // The message names no format of the host's hasher, because the import does not recognize it.
    expect(await judge(record({ client_secret_hash: hash }))).toBe(
      `${UNKNOWN}. Use sha256:… or pbkdf2_sha256$…. Or remove the field and use --new-secrets`,
    );
  });

  // @shows AS-41.3
  test('is refused if it is not a string', async () => {
    expect(await judge(record({ client_secret_hash: 7 }))).toBe(
      'client_secret_hash must be a string',
    );
  });
});

describe('an imported hash in the format of the password hasher of the host', () => {
  // @shows AS-41.3, AS-41.5
  test.each([
    ['bcrypt', bcrypt],
    ['bcrypt 2a', (digest: string) => bcrypt(digest, '2a$10')],
    ['bcrypt 2y', (digest: string) => bcrypt(digest, '2y$10')],
    ['PHC with a version', phc],
    ['PHC with four parts', (digest: string) => `$s$r=8$${'s'.repeat(11)}$${digest.slice(0, 11)}`],
  ])(
    'is stored unchanged, and only the same hash counts as the same secret: %s',
    async (_, write) => {
      const passwordHasher = hasherWriting((digest) => write(digest));
      const hash = await passwordHasher.hash(SECRET);
      const about = record({ client_secret_hash: hash });
      const written = { passwordHasher, dryRun: false };
      expect(await judge(about, written)).toBe('imported');
      const kept = await servers.serverWith().clients.find(about.client_id);
      expect(kept?.secretHash).toBe(hash);
      expect(await judge(about, written)).toBe('unchanged');
      const other = { ...about, client_secret_hash: await passwordHasher.hash('another') };
      expect(await judge(other, written)).toBe(DIFFERENT);
      const empty = record({ client_secret_hash: await passwordHasher.hash('') });
      expect(await judge(empty, written)).toBe(
        'client_secret_hash is the hash of an empty secret; remove it and use --new-secrets',
      );
    },
  );

  test('must not be that of an empty secret in another format', async () => {
    const digest = createHash('sha256').update('').digest();
    for (const text of [digest.toString('hex'), digest.toString('base64')])
      expect(await judge(record({ client_secret_hash: `sha256:${text}` }))).toBe(
        'client_secret_hash is the hash of an empty secret; remove it and use --new-secrets',
      );
  });

  const digest = createHash('sha512').update(SECRET).digest('hex');
  // @shows AS-41.3
  test.each([
    ['bcrypt of another cost', bcrypt, bcrypt(digest, '2b$13')],
    ['bcrypt of another version', bcrypt, bcrypt(digest, '2a$12')],
    ['incomplete bcrypt', bcrypt, bcrypt(digest).slice(0, -1)],
    ['bcrypt, with text after it', bcrypt, `${bcrypt(digest)}0`],
    ['another cost', phc, phc(digest, [22, 43], 'm=65')],
    ['another length of the salt', phc, phc(digest, [21, 43])],
    ['another length of the value', phc, phc(digest, [22, 44])],
    [
      'other lengths with the same digits',
      (own: string) => phc(own, [11, 121]),
      phc(digest, [111, 21]),
    ],
  ])('is refused if the hasher could not have created it: %s', async (_, write, hash) => {
    const passwordHasher = hasherWriting((own) => write(own));
    const problem = await judge(record({ client_secret_hash: hash }), { passwordHasher });
    expect(problem).toContain(UNKNOWN);
    expect(problem).not.toContain(hash);
  });

  // @shows AS-41.3
  test.each([
    ['text before bcrypt', (own: string) => `x${bcrypt(own)}`],
    ['text after bcrypt', (own: string) => `${bcrypt(own)}x`],
    ['an unknown version of bcrypt', (own: string) => bcrypt(own, '2c$12')],
    ['bcrypt with a cost that is not a number', (own: string) => bcrypt(own, '2b$x2')],
    ['bcrypt with a cost that ends with a letter', (own: string) => bcrypt(own, '2b$1x')],
    ['bcrypt with one character', (own: string) => `$2b$12$${own.slice(0, 1)}`],
    ['bcrypt with other characters', () => `$2b$12$${'_'.repeat(53)}`],
    ['text before the first dollar sign', (own: string) => `x${phc(own)}`],
    ['too few parts', (own: string) => `$s$${'s'.repeat(22)}$${own}`],
    ['a space', (own: string) => phc(own, [22, 43], 'm 64')],
    ['a letter outside ASCII', (own: string) => phc(own, [22, 43], 'é')],
    ['513 characters', (own: string) => phc(own, [22, 43], 'm'.repeat(431))],
    ['a salt that is too short', (own: string) => phc(own, [10, 43])],
    ['a value that is too short', (own: string) => phc(own, [22, 10])],
    [
      'another character at the beginning of the salt',
      (own: string) => `$s$v$r$!${'s'.repeat(22)}$${own}`,
    ],
    ['another character at the end of the value', (own: string) => `${phc(own)}_`],
    [
      'another character at the beginning of the value',
      (own: string) => `$s$v$r$${'s'.repeat(22)}$_${own}`,
    ],
  ])('is refused if its format is not recognized: %s', async (_, write) => {
    const passwordHasher = hasherWriting((own) => write(own));
    const hash = await passwordHasher.hash(SECRET);
    expect(await judge(record({ client_secret_hash: hash }), { passwordHasher })).toBe(
      `${UNKNOWN}. Use sha256:… or pbkdf2_sha256$…. Or remove the field and use --new-secrets`,
    );
  });

  test('has its format named in the error for an unsupported hash', async () => {
    const passwordHasher = hasherWriting((own) => phc(own));
    const given = record({ client_secret_hash: 'md5:0' });
    expect(await judge(given, { passwordHasher })).toContain(
      ", or a hash of the host's password hasher ($argon2id$v=19$m=64$…)",
    );
  });

  test('ends the import with the error of the hasher if it cannot be verified', async () => {
    const passwordHasher: PasswordHasher = {
      ...hasherWriting((own) => phc(own)),
      verify: async () => {
        throw new Error('no memory for a hash');
      },
    };
    const given = record({ client_secret_hash: await passwordHasher.hash(SECRET) });
    await expect(judge(given, { passwordHasher })).rejects.toThrow('no memory for a hash');
  });
});
