// The generated file that reads the users table.
import type { UsersDatabase, UsersTable } from '../answers.ts';
import type { Detected } from '../detect.ts';

type Reader = UsersDatabase['engine'] | 'better-sqlite3' | 'another';

/**
 * Returns the content of the users file. Text between « and » is for TypeScript only. The file uses
 * the application's own SQLite library, because two SQLite libraries in one process do not see each
 * other's locks.
 */
export function usersFile(
  { engine }: UsersDatabase,
  table: UsersTable,
  { otherSqlite }: Detected,
): string {
  const reader: Reader = engine === 'sqlite' ? (otherSqlite ?? 'sqlite') : engine;
  return `${IMPORTS[reader]}«
/** A person with an account. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}
»
const SELECT = ${selectFrom(engine, table)};

// Reads your users table. You can replace it with the queries that your application has.
${READERS[reader]}
// Databases also compare '1x' and 1 as equal, so compare the id again.
function userOf(row«: Record<string, unknown> | undefined», id«: string»)«: User | null» {
  if (row === undefined || String(row['id']) !== id) return null;
  return { id, email: String(row['email'] ?? ''), name: String(row['name'] ?? '') };
}
`;
}

const IMPORTS: Readonly<Record<Reader, string>> = {
  'better-sqlite3': "import Database from 'better-sqlite3';\n",
  another: '',
  sqlite: "import { DatabaseSync } from 'node:sqlite';\n",
  postgres: "import pg from 'pg';\n",
  mariadb: "import { createPool } from 'mysql2/promise';\n",
};

function selectFrom(engine: UsersDatabase['engine'], table: UsersTable): string {
  const quoted = (name: string) => (engine === 'mariadb' ? `\\\`${name}\\\`` : `"${name}"`);
  const { id, email, fullName, name } = table;
  // Read the id as text. JavaScript would round or reject a numeric id of 2^53 or more.
  const text = engine === 'mariadb' ? 'CHAR' : 'TEXT';
  const columns = `CAST(${quoted(id)} AS ${text}) AS id, ${quoted(email)} AS email, ${quoted(fullName)} AS name`;
  const parameter = engine === 'postgres' ? '$1' : '?';
  return `\`SELECT ${columns}
  FROM ${quoted(name)} WHERE ${quoted(id)} = ${parameter}\``;
}

const READERS: Readonly<Record<Reader, string>> = {
  'better-sqlite3': `export function openUsers(file«: string | undefined») {
  let database«: Database.Database | undefined»;
  return {
    async byId(id«: string»)«: Promise<User | null>» {
      if (file === undefined) throw new Error('Set USERS_DATABASE to your SQLite file.');
      database ??= new Database(file, { readonly: true });
      return userOf(database.prepare(SELECT).get(id)« as Record<string, unknown> | undefined», id);
    },
  };
}
`,
  another: `export function openUsers(file«: string | undefined») {
  // Run the query above with your own library. Do not open the file with another SQLite library in
  // the same process: they do not see each other's locks, and writes can be lost.
  const query = async (sql«: string», id«: string»)«: Promise<Record<string, unknown> | undefined>» => {
    throw new Error(\`Query your users in \${file}: \${sql}, \${id}\`);
  };
  return {
    async byId(id«: string»)«: Promise<User | null>» {
      return userOf(await query(SELECT, id), id);
    },
  };
}
`,
  sqlite: `export function openUsers(file«: string | undefined») {
  let database«: DatabaseSync | undefined»;
  return {
    async byId(id«: string»)«: Promise<User | null>» {
      if (file === undefined) throw new Error('Set USERS_DATABASE to your SQLite file.');
      database ??= new DatabaseSync(file, { readOnly: true });
      return userOf(database.prepare(SELECT).get(id), id);
    },
  };
}
`,
  postgres: `export function openUsers(url«: string | undefined») {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  // Without this handler, a lost connection would end the process. The next query opens another.
  pool.on('error', (error) => console.error(error.message));
  return {
    async byId(id«: string»)«: Promise<User | null>» {
      const { rows } = await pool.query(SELECT, [id]);
      return userOf(rows[0], id);
    },
  };
}
`,
  mariadb: `export function openUsers(url«: string | undefined») {
  const pool = createPool({ uri: url ?? '', connectionLimit: 5 });
  return {
    async byId(id«: string»)«: Promise<User | null>» {
      const [rows] = await pool.execute(SELECT, [id]);
      const [row] = rows« as Record<string, unknown>[]»;
      return userOf(row, id);
    },
  };
}
`,
};
