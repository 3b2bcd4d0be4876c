import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  migrationsWith,
  openDatabase,
  type AuditEvent,
  type AuthorizationServer,
  type OAuthServerConfigInput,
  type OpenedDatabase,
  type PasswordHasher,
  type PersonReference,
  type UserInterface,
} from 'portico';
import { importing } from '../../packages/import/src/index.ts';

// The feature loads these files later. Loaded here, their constants exist before the first test, as
// in every later test.
await import('../../packages/import/src/client-importer.ts');
await import('../../packages/import/src/examination.ts');
await import('../../packages/import/src/subjects.ts');

export const NOW = 1_800_000_000_000;

/** A hasher that is fast. Its hashes have no format that the import recognizes. */
export const PLAIN: PasswordHasher = {
  hash: async (secret) => `hash of ${secret}`,
  verify: async (secret, hash) => hash === `hash of ${secret}`,
};

export interface ServerOptions {
  readonly section?: OAuthServerConfigInput;
  readonly passwordHasher?: PasswordHasher;
  /** Whether the application has this account. Default: each whose id begins with `known`. */
  readonly isKnown?: (person: PersonReference) => Promise<boolean>;
}

export interface ImportingServers {
  readonly database: OpenedDatabase;
  readonly events: AuditEvent[];
  serverWith(options?: ServerOptions): AuthorizationServer;
  close(): Promise<void>;
}

/** Creates servers that import, with one SQLite database. They have no address. */
export async function openImporting(hasSchema = true): Promise<ImportingServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-import-'));
  const database = openDatabase('sqlite:data.sqlite', { directory: folder });
  const events: AuditEvent[] = [];
  const features = [importing];
  const configWith = (section: OAuthServerConfigInput) =>
    configurationWith(features).parse({
      name: 'App',
      scopes: { 'notes:read': 'Read notes', 'notes:write': 'Write notes' },
      key_path: path.join(folder, 'keys'),
      ...section,
    });
  if (hasSchema) {
    const config = configWith({ logout: true, back_channel_logout: true });
    await migrate(database, migrationsWith(config, features));
  }
  return {
    database,
    events,
    serverWith({
      section = {},
      passwordHasher = PLAIN,
      isKnown = async ({ id }: PersonReference) => id.startsWith('known'),
    } = {}) {
      return createAuthorizationServer({
        publicUrl: 'https://app.example',
        config: configWith(section),
        database,
        features,
        clock: () => NOW,
        host: {
          signedIn: async () => null,
          loadAccount: async (person) => ((await isKnown(person)) ? ({} as UserInterface) : null),
          holdsPermission: async () => true,
          loginUrl: '/login',
          sessionId: async () => null,
          signOut: async () => {},
          passwordHasher,
          audit: async (event) => void events.push(event),
          log: { debug() {}, info() {}, warning() {}, error() {} },
        },
      });
    },
    async close() {
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
}
