import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler, type FetchHandler } from 'portico/fetch';
import {
  openDatabase,
  type OpenedDatabase,
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type AuditEvent,
  type AuthorizationServer,
  type Database,
  type Host,
  type PasswordHasher,
} from 'portico';
import { createDatabase } from '../database.ts';
import { createLossyStore, type LossyStore } from '../lossy-store.ts';
import type { Settings } from './world.ts';

/**
 * An application with two processes on one store. Every run resets it: empties the tables, and
 * creates new people and keys.
 */
export interface Installation {
  readonly nodes: readonly Node[];
  /** The server for an operator's commands. Faults do not affect it. */
  readonly console: AuthorizationServer;
  /** Adds a person with these permissions. */
  addPerson(name: string, permissions: readonly string[]): void;
  setActive(name: string, active: boolean): void;
  setPermission(name: string, permission: string, holds: boolean): void;
  advance(seconds: number): void;
  /** When the run began, in seconds since 1970. */
  readonly start: number;
  /** Returns the time in seconds since 1970. */
  now(): number;
  /**
   * Ends a process and starts another one in its place. The new process has an empty memory and an
   * available store.
   */
  restart(node: number): void;
  /** If not null, each use of a process's store first awaits this function. */
  turn: (() => Promise<void>) | null;
  /** Returns the id of the newest authorization. */
  lastAuthorization(): string;
  close(): Promise<void>;
}

export interface Node {
  readonly handle: FetchHandler;
  readonly server: AuthorizationServer;
  readonly store: LossyStore;
}

/** A browser, with the person who uses it. */
export interface Browser {
  readonly person: string;
}

/** The database that a test file uses. */
export interface Engine {
  readonly dialect: OpenedDatabase['dialect'];
  install(settings: Settings): Promise<Installation>;
  close(): Promise<void>;
}

export const ISSUER = 'https://host.example';
const PROVIDER = 'people';
export const reference = (id: string) => ({ provider: PROVIDER, id });

/**
 * The host's own hasher. It resolves immediately, so that the order of events depends only on the
 * store.
 */
const hasher: PasswordHasher = {
  hash: async (password) => `sha256$${digest(password)}`,
  async verify(password, hash) {
    const [, known = ''] = /^sha256\$(.{43})$/.exec(hash) ?? [];
    return known !== '' && timingSafeEqual(Buffer.from(digest(password)), Buffer.from(known));
  },
};
const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

const EMPTIED = [
  'oauth_families',
  'oauth_access_tokens',
  'oauth_consent_requests',
  'oauth_waiting_requests',
  'oauth_subjects',
  'oauth_single_uses',
  'oauth_client_logos',
  'oauth_clients',
];

export async function openEngine(): Promise<Engine> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-stateful-'));
  const created = await createDatabase(folder);
  const open = () => openDatabase(created.url, { directory: folder });
  const first = open();
  // Use the same connection twice. Two SQLite connections in one thread would wait for each other
  // forever.
  const isFile = first.dialect === 'sqlite';
  const stores = isFile ? [first, first] : [first, open()];
  await migrate(first, oauthServerMigrations);
  if (isFile) await first.execute('PRAGMA synchronous = OFF');
  const keys = path.join(folder, 'keys');
  const { keys: ring } = serverOn(first, keys, LIKE_ANY, { host: NOBODY, clock: Date.now });
  for (const algorithm of ['RS256', 'ES256'] as const) await ring.generate(algorithm);
  const emptied = await tablesOf(first);
  const start = (Math.floor(Date.now() / 1000) + 1) * 1000;
  let runs = 0;
  return {
    dialect: first.dialect,
    async install(settings) {
      for (const table of emptied) await first.execute(`DELETE FROM ${table}`);
      const own = path.join(folder, `keys-${(runs += 1)}`);
      await mkdir(own, { mode: 0o700 });
      await cp(keys, own, { recursive: true });
      return install(settings, stores, own, start);
    },
    async close() {
      for (const store of new Set(stores)) await store.close();
      await created.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the tables that exist, of all tables that Portico has ever had. */
async function tablesOf(database: OpenedDatabase): Promise<readonly string[]> {
  const there: string[] = [];
  for (const table of EMPTIED) {
    const is = await database.execute(`SELECT 1 FROM ${table} WHERE 1 = 0`).then(
      () => true,
      () => false,
    );
    if (is) there.push(table);
  }
  return there;
}

/** A host that is used only to create keys. */
const NOBODY: Host = {
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async () => false,
  loginUrl: '/login',
  async audit() {},
};
const LIKE_ANY: Settings = { code: 60, access: 3600, refresh: 2_592_000, consent: 600 };

function serverOn(
  database: Database,
  keys: string,
  settings: Settings,
  { host, clock }: { readonly host: Host; readonly clock: () => number },
): AuthorizationServer {
  const config = oauthServerConfiguration.parse({
    name: 'A host',
    scopes: {
      'notes:read': 'Read your notes',
      'notes:write': { label: 'Write notes for you', permission: 'notes.edit' },
    },
    key_path: keys,
    code_ttl: settings.code,
    access_token_ttl: settings.access,
    refresh_token_ttl: settings.refresh,
    consent_ttl: settings.consent,
    refresh_retry_seconds: settings.retry ?? 0,
    registration: 'open',
    private_key_jwt: true,
    dpop: 'accept',
  });
  // With this random number, the server accepts attempts from a client that must wait after wrong
  // secrets.
  return createAuthorizationServer({
    publicUrl: ISSUER,
    config,
    host,
    database,
    clock,
    random: () => 0,
  });
}

function install(
  settings: Settings,
  stores: readonly OpenedDatabase[],
  keys: string,
  start: number,
): Installation {
  const people = new Map<
    string,
    { active: boolean; readonly permissions: Set<string>; readonly secret: string }
  >();
  let time = start;
  let last = '';
  const personOf = (name: string) => {
    const person = people.get(name);
    if (person === undefined) throw new Error(`No person is called ${name}`);
    return person;
  };
  const quiet = { debug() {}, info() {}, warning() {}, error() {} };

  const host: Host<Browser | undefined> = {
    async signedIn(_, browser) {
      if (browser === undefined || !personOf(browser.person).active) return null;
      return reference(browser.person);
    },
    async loadAccount(person) {
      const account = people.get(person.id);
      if (account === undefined) return null;
      return {
        reference: person,
        isActive: () => account.active,
        getProfile: () => ({
          name: person.id,
          email: `${person.id}@host.example`,
          email_verified: true,
        }),
      };
    },
    holdsPermission: async ({ id }, permission) => personOf(id).permissions.has(permission),
    browserSecret: async (_, browser) => personOf(browser?.person ?? '').secret,
    signOut: async () => {},
    loginUrl: '/login',
    passwordHasher: hasher,
    clientAddress: () => null,
    async audit(event: AuditEvent) {
      if (event.type === 'consent_granted') last = event.authorization;
    },
    log: quiet,
  };
  const options = { host: host as Host, clock: () => time };
  const nodeOn = (inner: OpenedDatabase): Node => {
    const store = createLossyStore(inTurn(inner, () => installation.turn));
    const server = serverOn(store.database, keys, settings, options);
    return { server, store, handle: createHandler(server) };
  };
  const [first] = stores;
  if (first === undefined) throw new Error('An installation has a store');

  const nodes: Node[] = [];
  const installation: Installation = {
    nodes,
    turn: null,
    console: serverOn(first, keys, settings, options),
    addPerson(name, permissions) {
      const secret = randomBytes(32).toString('base64url');
      people.set(name, { active: true, permissions: new Set(permissions), secret });
    },
    setActive: (name, active) => void (personOf(name).active = active),
    setPermission(name, permission, holds) {
      const { permissions } = personOf(name);
      if (holds) permissions.add(permission);
      else permissions.delete(permission);
    },
    advance: (seconds) => void (time += seconds * 1000),
    start: start / 1000,
    now: () => time / 1000,
    restart(node) {
      const store = stores[node];
      if (store !== undefined) nodes[node] = nodeOn(store);
    },
    lastAuthorization: () => last,
    close: () => rm(keys, { recursive: true, force: true }),
  };
  nodes.push(...stores.map(nodeOn));
  return installation;
}

/** Wraps the store. While `turnOf` returns a function, each use waits for its turn. */
function inTurn(inner: OpenedDatabase, turnOf: () => Installation['turn']): OpenedDatabase {
  return {
    ...inner,
    execute: async (...use) => {
      await turnOf()?.();
      return inner.execute(...use);
    },
    transaction: async (...use) => {
      await turnOf()?.();
      return inner.transaction(...use);
    },
  };
}
