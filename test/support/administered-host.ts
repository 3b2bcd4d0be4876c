import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import { administration } from '@portico/admin';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  oauthServerMigrations,
  type AuthorizationServer,
  type Host,
  type LogContext,
  type PersonReference,
} from 'portico';
import { mainOf, PAGES } from './administration.ts';
import { createPageClock, type PageClock } from './clock.ts';
import { CHEAP } from './hashers.ts';
import { openOwnStore, type OwnStore } from './own-store.ts';
import { codeRequest, REDIRECT_URI } from './portal.ts';
import { formOf } from './visitor.ts';

/** The administrator. */
export const STAFF: PersonReference = { provider: 'staff', id: 'ada' };
const ORIGIN = 'https://host.example';

/** A server of a host without the kit, with a separate SQLite store. */
export interface AdministeredHost {
  readonly server: AuthorizationServer;
  readonly database: OwnStore;
  readonly clock: PageClock;
  /** The values of the warnings and errors in the log. */
  readonly logged: LogContext[];
  /** What another process does once, before the next statement or BEGIN that matches. */
  meanwhile: { readonly before: RegExp; readonly act: () => Promise<unknown> } | null;
  /** An application registers itself with a new initial access token. Returns its id. */
  readonly registerItself: (name: string) => Promise<string>;
  /** Sends a GET, or a POST with these fields. Ada sends it unless another person is given. */
  readonly send: (
    at: string,
    fields?: Readonly<Record<string, string>>,
    person?: PersonReference,
  ) => Promise<Response>;
  /** Opens the page below `/oauth/admin`. */
  readonly page: (at?: string) => Promise<Response>;
  /** Returns the main part of the page, as a person reads it. */
  readonly read: (at?: string) => Promise<string>;
  /** Registers an application, and returns its id. */
  readonly register: (name: string, others?: object) => Promise<string>;
  /** This person allows the application what it asks for. */
  readonly allow: (client: string, person?: PersonReference) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface AdministeredHosts {
  readonly start: (
    others?: Partial<Host<PersonReference>>,
    changes?: object,
  ) => Promise<AdministeredHost>;
  readonly remove: () => Promise<void>;
}

/** Creates the schema once. Each host gets a copy. */
export async function prepareHosts(): Promise<AdministeredHosts> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-hosts-'));
  const empty = path.join(folder, 'empty.sqlite');
  const template = await open(empty);
  await migrate(template, oauthServerMigrations);
  await template.close();
  let started = 0;
  return {
    async start(others = {}, changes = {}) {
      started += 1;
      const file = path.join(folder, `${started}.sqlite`);
      await copyFile(empty, file);
      const key_path = path.join(folder, `keys-${started}`);
      const host = hostIn(await open(file), others, { key_path, ...changes });
      const close = async () => {
        await host.database.close();
        // A mutation run starts thousands of hosts.
        for (const used of [file, key_path]) await rm(used, { recursive: true, force: true });
      };
      return Object.assign(host, { close });
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

async function open(file: string): Promise<OwnStore> {
  const opened = openOwnStore(`sqlite:${file}`);
  // No fsync: a crash does not matter here.
  await opened.execute('PRAGMA synchronous = OFF');
  return opened;
}

function hostIn(
  database: OwnStore,
  others: Partial<Host<PersonReference>>,
  changes: object,
): Omit<AdministeredHost, 'close'> {
  const clock = createPageClock();
  const logged: LogContext[] = [];
  const line = (_: string, context: LogContext = {}) => void logged.push(context);
  const ignore = () => {};
  const host: Host<PersonReference> = {
    signedIn: async (_, person) => person,
    browserSecret: async () => 'the secret of this browser',
    loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    passwordHasher: CHEAP,
    log: { debug: ignore, info: ignore, warning: line, error: line },
    ...others,
  };
  const features = [administration];
  const config = configurationWith(features).parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write your notes' },
    admin_permission: 'administer',
    registration: 'initial_access_token',
    client_id_metadata_documents: true,
    ...changes,
  });
  const begin = async (statement: string) => {
    const now = started.meanwhile?.before.test(statement) === true ? started.meanwhile : null;
    if (now !== null) started.meanwhile = null;
    await now?.act();
  };
  const watched: OwnStore = {
    ...database,
    async execute(sql, parameters) {
      await begin(sql);
      return database.execute(sql, parameters);
    },
    async transaction(work, committed) {
      await begin('BEGIN');
      return database.transaction(work, committed);
    },
  };
  const server = createAuthorizationServer({
    publicUrl: ORIGIN,
    config,
    host,
    database: watched,
    features,
    clock: clock.now,
  });
  const handler = createHandler<PersonReference>(server);
  const handle = async (request: Request, person: PersonReference) => {
    const response = await handler(request, person);
    if (response === null) throw new Error(`${request.url} is the path of no endpoint`);
    return response;
  };
  const started: Omit<AdministeredHost, 'close'> = {
    server,
    database,
    clock,
    logged,
    meanwhile: null,
    async send(at, fields, person = STAFF) {
      const form =
        fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
      const asked = new Request(new URL(at, ORIGIN), { headers: { Accept: 'text/html' }, ...form });
      return handle(asked, person);
    },
    page: (at = '') => started.send(`${PAGES}${at}`),
    read: async (at = '') => mainOf(await started.page(at)),
    async register(name, more = {}) {
      const registration = { name, redirectUris: [REDIRECT_URI], scopes: ['notes:read'], ...more };
      return (await server.clients.create(registration)).client.id;
    },
    async registerItself(name) {
      const uses = { uses: 1, lifetime: 60, note: 'registerItself' };
      const { id, token } = await server.initialAccessTokens.create(uses);
      const metadata = { client_name: name, redirect_uris: ['https://shop.example/cb'] };
      const asked = new Request(`${ORIGIN}/oauth/register`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(metadata),
      });
      const answer = (await (await handle(asked, STAFF)).json()) as { client_id: string };
      await server.initialAccessTokens.revoke(id);
      return answer.client_id;
    },
    async allow(client, person) {
      const query = codeRequest(client, { scope: 'notes:read' });
      const asked = await started.send(`/oauth/authorize?${query}`, undefined, person);
      const { fields } = formOf(await asked.text());
      const answer = await started.send(
        '/oauth/authorize',
        { ...fields, decision: 'allow' },
        person,
      );
      if (answer.headers.get('location')?.includes('code=') !== true)
        throw new Error('The answer has no code');
    },
  };
  return started;
}
