import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import {
  argon2idHasher,
  migrationsOf,
  startApplication,
  type Application,
  type ApplicationDefinition,
} from '@portico/kit';
import {
  mergeConfig,
  migrate,
  type PasswordHasher,
  authorizationServerOf,
  oauthServer,
  type AuthorizationServer,
} from 'portico';
import { administration } from '@portico/admin';
import { importing } from '@portico/import';
import { mcp } from '@portico/mcp';
import portal from '../../../examples/portal/app.ts';
import { accountsOf, seedPeople } from '../../../examples/portal/people.ts';
import { hashingWith, withHasher } from '../hashers.ts';
import { ensureSigningKey } from '../signing-key.ts';

/**
 * The example portal in this process, on SQLite, with every option that compares something. There
 * is no socket: a request is a function call. The server never slows down failures, and the clock
 * stands still.
 */
export interface World {
  readonly url: string;
  readonly application: Application;
  readonly server: AuthorizationServer;
  /** The fixed time, in milliseconds since 1970. */
  readonly now: number;
  readonly hasher: PasswordHasher;
  readonly send: (request: Request) => Promise<Response>;
  idOf(email: string): Promise<string>;
  close(): Promise<void>;
}

/** The number of iterations in the hash of an imported secret. */
export const ITERATIONS = 10;
export const PERMISSION = 'portal:administer';
export const ADA = 'ada@example.com';
/** An account to which no one has ever signed in. The address is as long as the next one. */
export const ALICE = 'alice@example.com';
/** An account that is suspended. */
export const GRACE = 'grace@example.com';
export const PASSWORD = 'portico';

/**
 * How secrets are hashed. `argon2id` is the kit's hasher with little memory. `none` is a fast hash,
 * which shows other differences best. Other tests count the calls of the hasher.
 */
export type Hashing = 'argon2id' | 'none';

export interface WorldOptions {
  readonly hashing: Hashing;
  /**
   * Whether another server may have hashed secrets with PBKDF2. If so, each unknown secret takes
   * that time.
   */
  readonly takesImported: boolean;
}

const HASHERS: Readonly<Record<Hashing, () => PasswordHasher>> = {
  argon2id: () => argon2idHasher({ memory: 64 }),
  none: () => ({
    hash: async (secret) => hash('sha256', secret, 'base64url'),
    verify: async (secret, kept) => hash('sha256', secret, 'base64url') === kept,
  }),
};

export async function startWorld({ hashing, takesImported }: WorldOptions): Promise<World> {
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-timing-'));
  const now = Date.now();
  const [clock, random] = [() => now, () => 0];
  const hasher = HASHERS[hashing]();
  const url = 'http://localhost:8080';
  const definition: ApplicationDefinition = hashingWith(hasher, {
    ...portal,
    plugins: [oauthServer({ features: [administration, importing], clock, random }), mcp()],
    config: (env) =>
      mergeConfig(typeof portal.config === 'function' ? portal.config(env) : portal.config, {
        log: { path: devNull },
        mcp: { resource: `${url}/mcp`, oauth: { scopes_supported: ['notes:read'] } },
        oauth_server: {
          admin_permission: PERMISSION,
          audience: `${url}/mcp`,
          dpop: 'accept',
          dpop_nonces: true,
          imported_pbkdf2_iterations: takesImported ? ITERATIONS : 0,
          private_key_jwt: true,
          registration: 'open',
        },
      }),
  });
  const env = {
    APP_ENV: 'dev',
    PORT: '8080',
    STORAGE_DIR: storage,
    DATABASE_URL: `sqlite:${path.join(storage, 'portal.sqlite')}`,
  };
  const application = await startApplication(definition, { env, clock, random });
  await migrate(application.database, migrationsOf(definition));
  await application.database.execute('PRAGMA synchronous = OFF');
  const server = authorizationServerOf(application);
  await ensureSigningKey(application, server);
  await seedPeople(withHasher(hasher, application), PASSWORD);
  const accounts = accountsOf(withHasher(hasher, application));
  await accounts.create({ email: ALICE, name: 'Alice', password: PASSWORD });

  async function idOf(email: string): Promise<string> {
    const account = await accounts.findByEmail(email);
    if (account === null) throw new Error(`No account ${email}`);
    return account.id;
  }
  await accounts.grant(await idOf(ADA), PERMISSION);
  await accounts.setActive(await idOf(GRACE), false);

  return {
    url,
    application,
    server,
    now,
    hasher,
    send: (request) => application.fetch(request, { address: '192.0.2.1' }),
    idOf,
    async close() {
      await application.close();
      await rm(storage, { recursive: true, force: true });
    },
  };
}
