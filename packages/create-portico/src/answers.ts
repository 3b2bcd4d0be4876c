// Collects the user's decisions from command-line options and answers. The defaults fit the
// detected application.
import fs, { existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Detected } from './detect.ts';
import { Failure } from './failure.ts';
import { FRAMEWORKS, guideOf, GUIDE_ONLY, NEW_FRAMEWORKS, type Framework } from './frameworks.ts';
import type { Options } from './options.ts';
import type { Questions } from './questions.ts';

/**
 * The database that contains the users table. `value` is the path of a SQLite file, or the URL of a
 * database server.
 */
export interface UsersDatabase {
  readonly engine: 'sqlite' | 'postgres' | 'mariadb';
  readonly value: string;
}

/** The names of the users table and its columns. */
export interface UsersTable {
  readonly name: string;
  readonly id: string;
  readonly email: string;
  readonly fullName: string;
}

export interface Answers {
  readonly framework: Framework;
  readonly url: string;
  readonly redirect: string;
  readonly database: UsersDatabase;
  readonly table: UsersTable;
}

/**
 * Asks all questions about an existing application. Throws a `Failure` if an option or an answer is
 * invalid.
 */
export async function askAboutApplication(
  detected: Detected,
  options: Options,
  questions: Questions,
): Promise<Answers> {
  const framework = await askForFramework(detected, options, questions);
  const { folder } = detected;
  const database = toDatabase(
    await questions.ask(
      {
        text: 'Database with your users: a SQLite file, postgres://… or mysql://…',
        initial: likelyDatabase(detected),
        check: (text) => checkDatabase(text) ?? checkFile(folder, toDatabase(text)),
      },
      options.database,
    ),
  );
  const name = await questions.ask(
    {
      text: 'Table with your users',
      initial: 'users',
      check: (text) => checkName(text) ?? checkTable(folder, database, text),
    },
    options['users-table'],
  );
  const column = (text: string, initial: string) => ({
    text,
    initial,
    check: (typed: string) => checkName(typed) ?? checkColumn(folder, database, name, typed),
  });
  const table = {
    name,
    id: await questions.ask(column('Its column with the id', 'id'), options['id-column']),
    email: await questions.ask(
      column('Its column with the e-mail address', 'email'),
      options['email-column'],
    ),
    fullName: await questions.ask(
      column('Its column with the name', 'name'),
      options['name-column'],
    ),
  };
  return { framework, database, table, ...(await askForUrls(detected.env, options, questions)) };
}

async function askForFramework(
  { framework: found }: Detected,
  { framework: given }: Options,
  questions: Questions,
): Promise<Framework> {
  const answer = await questions.ask(
    {
      text: `Framework: ${FRAMEWORKS.join(', ')}`,
      initial: found,
      check: (name) =>
        [...FRAMEWORKS, ...GUIDE_ONLY].some((each) => each === name)
          ? null
          : `Unknown framework ${JSON.stringify(name)}. Use one of: ${FRAMEWORKS.join(', ')}.`,
    },
    given,
  );
  const known = FRAMEWORKS.find((name) => name === answer);
  if (known !== undefined) return known;
  throw new Failure(
    `create-portico cannot set up Portico for ${answer}. Follow the guide ${guideOf(answer)}. Nothing was written.`,
  );
}

/** Asks which framework a new application uses. */
export async function askForNewFramework({ framework }: Options, questions: Questions) {
  const answer = await questions.ask(
    {
      text: `New application with: ${NEW_FRAMEWORKS.join(', ')}`,
      initial: 'kit',
      check: (name) =>
        NEW_FRAMEWORKS.some((each) => each === name)
          ? null
          : `A new application cannot be created with ${JSON.stringify(name)}. Use one of: ${NEW_FRAMEWORKS.join(', ')}. To use another framework, first create the application with that framework. Then run npm create portico in the new folder.`,
    },
    framework,
  );
  return NEW_FRAMEWORKS.find((name) => name === answer) ?? 'kit';
}

/** Returns the public URL, and the redirect URI for the first client. */
export async function askForUrls(
  env: Detected['env'],
  options: Options,
  questions: Questions,
  port = 3000,
): Promise<{ readonly url: string; readonly redirect: string }> {
  const initial = env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? port}`;
  const url = await questions.ask(
    { text: 'Public URL of your application', initial, check: checkOrigin },
    options.url,
  );
  const redirect = options.redirect ?? 'http://localhost:4000/callback';
  const problem = redirectProblem(redirect);
  if (problem !== null) throw new Failure(`--redirect ${redirect} ${problem}.`);
  return { url: new URL(url).origin, redirect };
}

/** Returns the reason why Portico's console would reject this redirect URI, or null. */
function redirectProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'is not a URL';
  if (!/^https?:\/\/[!$-;=?-[\]_a-z~]+$/i.test(text))
    return 'must be an https URL without a fragment, and contain only ASCII characters';
  const url = new URL(text);
  if (url.protocol === 'http:' && !isLocal(url)) return 'must begin with https';
  if (text.includes('*')) return 'contains a wildcard';
  if (/^[^/]+\/\/[^/?]*@/.test(text)) return 'contains a user name or password';
  const taken = ['code', 'state', 'iss', 'error', 'error_description'].find((name) =>
    url.searchParams.has(name),
  );
  return taken === undefined
    ? null
    : `must not contain the parameter ${taken}, because Portico adds this parameter to the response`;
}

const isLocal = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

function checkOrigin(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.href !== `${url.origin}/`)
    return `${JSON.stringify(text)} must be a URL without a path, such as https://app.example.com.`;
  return url.protocol === 'https:' || isLocal(url) ? null : `${text} must begin with https.`;
}

function checkName(text: string): string | null {
  return /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text)
    ? null
    : `${JSON.stringify(text)} is not a valid name for a table or column. Use letters, digits and _.`;
}

function checkDatabase(text: string): string | null {
  // Require at least two letters, because a single letter before a colon is a Windows drive.
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/i.exec(text) ?? [];
  if (scheme === undefined) return null;
  if (/^(?:sqlite|file)$/.test(scheme) && !rest.startsWith('//'))
    return rest === '' ? `${scheme}: must be followed by the path of a file.` : null;
  if (!/^(?:postgres|postgresql|mysql|mariadb)$/.test(scheme))
    return `${scheme}:// is not supported. Use a SQLite file, postgres://… or mysql://….`;
  return rest.startsWith('//') && URL.canParse(text) ? null : `This is not a valid ${scheme} URL.`;
}

function toDatabase(text: string): UsersDatabase {
  if (/^postgres(?:ql)?:/.test(text)) return { engine: 'postgres', value: text };
  if (/^(?:mysql|mariadb):/.test(text))
    return { engine: 'mariadb', value: text.replace(/^mariadb:/, 'mysql:') };
  return { engine: 'sqlite', value: text.replace(/^(?:sqlite|file):/, '') };
}

/**
 * Returns the database of a new application. Throws a `Failure` if the database is not supported or
 * its URL is invalid.
 */
export function newDatabase(text: string): UsersDatabase {
  const problem = checkDatabase(text);
  if (problem !== null) throw new Failure(problem);
  return toDatabase(text);
}

/** Guesses which database the application uses, so that the question has a default answer. */
function likelyDatabase({ folder, env, database }: Detected): string {
  const url = env['DATABASE_URL'];
  if (env['USERS_DATABASE'] !== undefined) return env['USERS_DATABASE'];
  if (url !== undefined && checkDatabase(url) === null) return url;
  if (database === 'pg') return 'postgres://localhost:5432/app';
  if (database === 'mysql2' || database === 'mariadb') return 'mysql://localhost:3306/app';
  // Do not import `globSync` by name. Older versions of Node do not export it, so the import would
  // fail before the version check runs.
  const [file] = fs.globSync(['*.{sqlite,sqlite3,db}', '{data,db,prisma}/*.{sqlite,sqlite3,db}'], {
    cwd: folder,
  });
  return file ?? 'app.sqlite';
}

/** Checks that the SQLite file contains tables. */
function checkFile(folder: string, database: UsersDatabase): string | null {
  return checkSqlite(folder, database, (namesIn) =>
    namesIn(TABLES).length === 0 ? `${database.value} contains no tables.` : null,
  );
}

/** Checks that the SQLite file contains this table. */
function checkTable(folder: string, database: UsersDatabase, table: string): string | null {
  return checkSqlite(folder, database, (namesIn) => {
    if (namesIn(COLUMNS, table).length > 0) return null;
    const tables = namesIn(TABLES).join(', ');
    return `${database.value} contains no table ${table}. Its tables are ${tables}. Name the one that contains your users (--users-table).`;
  });
}

/** Checks that the table in the SQLite file has this column. */
function checkColumn(
  folder: string,
  database: UsersDatabase,
  table: string,
  column: string,
): string | null {
  return checkSqlite(folder, database, (namesIn) => {
    const columns = namesIn(COLUMNS, table);
    return columns.includes(column)
      ? null
      : `The table ${table} has no column ${column}. Its columns are ${columns.join(', ')}. Name the right ones (--id-column, --email-column and --name-column).`;
  });
}

const TABLES = `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name`;
const COLUMNS = 'SELECT name FROM pragma_table_info(?)';

/** Runs a query that returns names. */
type NamesIn = (query: string, ...parameters: string[]) => readonly string[];

/**
 * Runs `check` if the database is a SQLite file that exists. Returns the problem that `check`
 * returns, or why a query has failed.
 */
function checkSqlite(
  folder: string,
  { engine, value }: UsersDatabase,
  check: (namesIn: NamesIn) => string | null,
): string | null {
  const file = path.resolve(folder, value);
  if (engine !== 'sqlite' || !existsSync(file)) return null;
  // Do not import `node:sqlite` at the top of the file. On older versions of Node, the import would
  // fail before the version check runs.
  const sqlite = process.getBuiltinModule('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    const opened = (database = new sqlite.DatabaseSync(file, { readOnly: true }));
    return check((query, ...parameters) =>
      opened
        .prepare(query)
        .all(...parameters)
        .map(({ name }) => String(name)),
    );
  } catch (error) {
    return `${file} cannot be read: ${(error as Error).message}.`;
  } finally {
    database?.close();
  }
}
