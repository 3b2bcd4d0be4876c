import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  openDatabase,
  type AuthorizationServer,
  type Database,
} from 'portico';
import { incomingOf } from 'portico/node';
import { formOf, logError, sendLogin } from '../peers/pages.ts';
import { PERSON, type Place, type Seeded } from '../target.ts';
import { PATHS, registerClients } from './portico-application.ts';

/**
 * An application without the kit, with its own table of people and its own sessions in memory. It
 * mounts Portico with one of the packages for frameworks.
 */
export interface MountedApplication {
  readonly server: AuthorizationServer;
  /** Answers the sign-in page. */
  readonly signIn: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
}

interface Session {
  readonly secret: string;
  readonly person: string;
}

export async function mountedApplication({
  directory,
  database: url,
  url: publicUrl,
}: Place): Promise<MountedApplication> {
  const database = openDatabase(url, { directory });
  const config = oauthServerConfiguration.parse({
    name: 'Bench',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(directory, 'keys'),
  });
  const sessions = new Map<string, Session>();
  const sessionOf = (request: Request) =>
    sessions.get(/\bsid=(\w+)/.exec(incomingOf(request)?.headers.cookie ?? '')?.[1] ?? '');
  const server = createAuthorizationServer({
    publicUrl,
    config,
    database,
    host: {
      async signedIn(request) {
        const person = sessionOf(request)?.person;
        return person === undefined ? null : { provider: 'people', id: person };
      },
      async loadAccount(reference) {
        const { rows } = await database.execute(
          'SELECT name, email, active FROM people WHERE id = ?',
          [Number(reference.id)],
        );
        const [row] = rows;
        if (row === undefined) return null;
        const { name, email, active } = row;
        return {
          reference,
          isActive: () => Number(active) === 1,
          getProfile: () => ({ name: String(name), email: String(email), email_verified: true }),
        };
      },
      async holdsPermission(person, permission) {
        const { rows } = await database.execute(
          'SELECT 1 AS found FROM permissions WHERE person = ? AND name = ?',
          [Number(person.id), permission],
        );
        return rows.length > 0;
      },
      browserSecret: async (request) => sessionOf(request)?.secret ?? '',
      loginUrl: '/login',
      log: { debug() {}, info() {}, warning() {}, error: (_, context) => logError(context) },
    },
  });
  return { server, signIn: (incoming, outgoing) => signIn(sessions, incoming, outgoing) };
}

async function signIn(
  sessions: Map<string, Session>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { searchParams } = new URL(incoming.url ?? '/', 'http://127.0.0.1');
  if (incoming.method !== 'POST') return sendLogin(outgoing, incoming.url ?? '/login');
  const form = await formOf(incoming);
  if (form.get('password') !== PERSON.password) return sendLogin(outgoing, incoming.url ?? '/');
  const sid = randomBytes(16).toString('hex');
  sessions.set(sid, { secret: randomBytes(32).toString('hex'), person: '1' });
  const location = searchParams.get('return_to') ?? '/';
  outgoing.writeHead(303, { 'set-cookie': `sid=${sid}; Path=/; HttpOnly`, location }).end();
}

/** Creates the schema, the person, the keys and the clients. */
export async function seedMounted(place: Place): Promise<Seeded> {
  const database = openDatabase(place.database, { directory: place.directory });
  await migrate(database, oauthServerMigrations);
  await createPeople(database);
  const { server } = await mountedApplication(place);
  for (const algorithm of ['RS256', 'ES256'] as const) await server.keys.generate(algorithm);
  const { applications: _, ...paths } = PATHS;
  return {
    ...(await registerClients(server.clients, 'notes:read')),
    paths: { ...paths, protected: '/protected', mcp: null },
  };
}

async function createPeople(database: Database): Promise<void> {
  await database.execute(
    'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(99), email VARCHAR(99), active INTEGER)',
    [],
  );
  await database.execute(
    'CREATE TABLE permissions (person INTEGER, name VARCHAR(99), PRIMARY KEY (person, name))',
    [],
  );
  await database.execute('INSERT INTO people VALUES (1, ?, ?, 1)', [PERSON.name, PERSON.email]);
  await database.execute('INSERT INTO permissions VALUES (1, ?)', ['notes:read']);
}
