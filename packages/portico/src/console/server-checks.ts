import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { describeCause, getDialect, pendingSteps } from '@portico/sql';
import { randomToken } from '../crypto.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import { KeyFiles } from '../keys/key-files.ts';
import { findSigningKey, type SigningKey } from '../keys/signing-key.ts';
import type { Client } from '../store/client.ts';
import { writeNothing } from '../store/write-nothing.ts';
import { failing, ok, skipped, warning, type Finding } from './checks.ts';
import { howClientsCome, howToHaveClients } from './connecting-checks.ts';
import { findRefusal } from './database-problems.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/**
 * Checks that the store responds and accepts writes. Other checks find the reason if it does not
 * accept writes.
 */
export async function examineStore({
  application,
}: Subject): Promise<Finding | readonly Finding[]> {
  const { database } = application;
  try {
    await database.execute('SELECT 1');
    const { schema = null } = database;
    const answers = `${database.dialect} answers${schema === null ? '' : `, in the schema ${schema}`}`;
    // Without tables, the doctor cannot test a write. The schema check reports missing tables.
    if (pendingSteps(await application.migrations()).length > 0) return ok(answers);
    const problem = await writeProblem(database);
    return problem === null ? ok(`${answers} and accepts writes`) : [ok(answers), problem];
  } catch (error) {
    const refusal = findRefusal(application, error);
    if (refusal !== null) return failing(`${refusal.key}: ${refusal.message}`, refusal.remedy);
    const message = error instanceof Error ? describeCause(error) : String(error);
    return (
      (await unready(database)) ??
      failing(
        `the database cannot be reached: ${message}`,
        'start the database server, or correct database_url (DATABASE_URL)',
      )
    );
  }
}

/** Call it after a statement has failed. Returns why the database is not ready, or null. */
async function unready(database: Subject['application']['database']): Promise<Finding | null> {
  const examinations = await getDialect(database).examinations();
  return examinations.findUnready(database);
}

/** A database can respond but accept no writes. The server then cannot issue tokens. */
async function writeProblem(database: Subject['application']['database']): Promise<Finding | null> {
  try {
    await writeNothing(database);
    return null;
  } catch (error) {
    return failing(
      `the database does not accept writes: ${error instanceof Error ? error.message : String(error)}`,
      'check that the disk is not full, that no other process locks the database file, that it ' +
        'and its folder belong to this user, and that database_url does not point to a replica ' +
        '(docs/troubleshooting.md#the-database-takes-no-writes)',
    );
  }
}

export async function examineSchema({ application }: Subject): Promise<Finding> {
  const pending = pendingSteps(await application.migrations());
  if (pending.length === 0) return ok('all database migrations are applied');
  return failing(
    `these database migrations are not applied: ${pending.join(', ')}`,
    'run npx portico db:migrate up',
  );
}

export async function examineKeys({ server }: Subject): Promise<Finding | readonly Finding[]> {
  const { keys, config } = server;
  // A wrong owner explains why keys cannot be read, so check the owner first.
  const foreign = await foreignKeys(new KeyFiles(config.key_path, server.keys.algorithms));
  if (foreign !== null) return foreign;
  const all = await keys.all();
  if (all.length === 0) {
    return failing(
      `oauth_server:key_path: there is no signing key in ${config.key_path}, so requests for ` +
        'openid fail',
      'if keys existed before, restore their directory, or set oauth_server:key_path to the ' +
        'directory that contains them. If no key existed before, run npx portico oauth:server:setup',
    );
  }
  const open = all.some(({ file }) => file !== null) ? await openToOthers(config.key_path) : [];
  if (open.length > 0) {
    return failing(
      `oauth_server:key_path: other users can read ${open.join(', ')}`,
      `run chmod -R go= ${quoted(config.key_path)}. If another user may have read a key, ` +
        'generate a new key with npx portico oauth:keys:generate, and remove the old key',
    );
  }
  const active = server.keys.algorithms.names.flatMap(
    (each) => findSigningKey(all, each, server.clock()) ?? [],
  );
  const without = await clientsWithoutKey(server, active);
  if (without.length > 0) {
    const named = without.map(
      ({ id, idTokenSignedResponseAlg: algorithm }) => `${id} (${algorithm})`,
    );
    const missing = new Set(without.map(({ idTokenSignedResponseAlg: algorithm }) => algorithm));
    return failing(
      'oauth_server:key_path: these clients cannot get the scope openid, because ' +
        `${config.key_path} has no key for their algorithm: ${named.join(', ')}`,
      [...missing].map((each) => `run npx portico oauth:keys:generate --alg ${each}`).join('; '),
    );
  }
  const signing = active.map(({ kid, algorithm, signsFrom, file }) => {
    const what = algorithm === DEFAULT_ALGORITHM ? '' : ` ${algorithm}`;
    const signs = `${kid} signs${what}${file === null ? ' through a KeySigner' : ''}`;
    return signsFrom === 0 ? signs : `${signs} since ${new Date(signsFrom).toISOString()}`;
  });
  const found = ok(`${signing.join('; ')}; ${all.length} published`);
  const around = all.some(({ file }) => file !== null)
    ? await directoryOfRoot(config.key_path)
    : null;
  return around === null ? found : [found, around];
}

/**
 * Finds keys that a command created as root without a change of the owner. Root can read them but
 * the server cannot, so compare the owners.
 */
async function foreignKeys(files: KeyFiles): Promise<Finding | null> {
  // On Windows, files have no owner with a numeric id.
  if (process.platform === 'win32') return null;
  const { directory } = files;
  const { owner, foreign } = await files.owners().catch(() => ({ owner: null, foreign: [] }));
  // The keys in root's directory may also belong to the user that runs the server.
  if (owner === null || owner.uid === 0 || foreign.length === 0) return null;
  const named = foreign.map(({ name, uid }) => `${name} (uid ${uid})`).join(', ');
  return failing(
    `oauth_server:key_path: some keys in ${directory} do not belong to the directory's owner ` +
      `(uid ${owner.uid}): ${named}`,
    `if the server runs as uid ${owner.uid}, run chown -R ${owner.uid}:${owner.gid} ` +
      `${quoted(directory)}. Otherwise, use chown to give the files to the account that runs ` +
      'the server. Run console commands as that account, too',
  );
}

/**
 * Finds a key directory of root inside a directory of another user. Commands of earlier releases
 * created such directories as root. Root can read the keys, so reading them does not reveal the
 * problem.
 */
async function directoryOfRoot(directory: string): Promise<Finding | null> {
  if (process.geteuid?.() !== 0 || (await stat(directory)).uid !== 0) return null;
  let around = path.dirname(directory);
  let owner = await stat(around);
  while (owner.uid === 0 && path.dirname(around) !== around) {
    around = path.dirname(around);
    owner = await stat(around);
  }
  if (owner.uid === 0) return null;
  return warning(
    `oauth_server:key_path: ${directory} belongs to root, but the folder ${around} belongs ` +
      `to uid ${owner.uid}. A server that does not run as root cannot read the keys`,
    `if the server runs as uid ${owner.uid}, run chown -R ${owner.uid}:${owner.gid} ` +
      quoted(directory),
  );
}

const quoted = (file: string) => `'${file.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Clients that can request ID tokens although the server has no key for their algorithm. Empty if
 * the clients cannot be read.
 */
function clientsWithoutKey(
  server: Subject['server'],
  active: readonly SigningKey[],
): Promise<readonly Client[]> {
  return livingClients(
    server,
    // The owners of document clients must correct their documents, and the server fetches them
    // again before use.
    ({ scopes, grants, idTokenSignedResponseAlg, registeredBy }) =>
      registeredBy !== 'document' &&
      scopes.includes('openid') &&
      server.grantTypes.begin(grants, 'person') &&
      !active.some(({ algorithm }) => algorithm === idTokenSignedResponseAlg),
  ).catch((): readonly Client[] => []);
}

/** The key directory and files in it that the group or other users can access. */
async function openToOthers(directory: string): Promise<readonly string[]> {
  // On Windows, the mode bits have no meaning.
  if (process.platform === 'win32') return [];
  const names = await readdir(directory);
  const files = [directory, ...names.toSorted().map((name) => path.join(directory, name))];
  const modes = await Promise.all(
    files.map(async (file) => ({ file, mode: (await stat(file)).mode })),
  );
  return modes.filter(({ mode }) => (mode & 0o077) !== 0).map(({ file }) => file);
}

export async function examineHasher({ server: { host } }: Subject): Promise<Finding> {
  const secret = randomToken();
  const { passwordHasher } = host;
  const hash = await passwordHasher.hash(secret);
  const right: unknown = await passwordHasher.verify(secret, hash);
  // Some hashers ignore the end of a long secret. For example, bcrypt uses only the first 72 bytes.
  // So add a character at the start.
  const wrong: unknown = await passwordHasher.verify(`x${secret}`, hash);
  // A hasher in JavaScript can return any value. Accept only `true`, as client authentication does.
  if (right === true && wrong !== true)
    return ok('accepts a correct secret and refuses a wrong one');
  return failing(
    'accepts a wrong secret or refuses a correct one',
    "fix the host's password hasher",
  );
}

export async function examineClients({ application, server }: Subject): Promise<Finding> {
  if (pendingSteps(await application.migrations()).length > 0)
    return skipped('not checked: some database migrations are not applied');
  let count = 0;
  const having = await livingClients(server, ({ scopes, registeredBy }) => {
    count += 1;
    return registeredBy !== 'document' && scopes.some((scope) => !server.offers(scope));
  });
  const unknown = having.flatMap(({ id, scopes }) =>
    scopes.filter((scope) => !server.offers(scope)).map((scope) => `${id} has ${scope}`),
  );
  if (unknown.length > 0) {
    return warning(
      `clients have scopes that this server no longer offers: ${unknown.join(', ')}`,
      'add these scopes to oauth_server:scopes again, or remove them from the clients (npx ' +
        'portico oauth:client:update)',
    );
  }
  if (count > 0) return ok(`${count} registered`);
  const coming = await howClientsCome(server);
  return coming === null
    ? warning('no client is registered', howToHaveClients(server))
    : ok(`no client is registered yet; ${coming}`);
}
