import type { SqlConnection, SqlDialect } from './contract.ts';
import type { ColumnTypes } from './schema.ts';

/** How this engine spells the kinds of column. Identifiers compare byte by byte on all of them, trailing spaces included. */
export async function findColumnTypes(dialect: SqlDialect, connection: SqlConnection): Promise<ColumnTypes> {
  return dialect === 'mysql' ? mysqlColumnTypes(await binaryCollation(connection)) : COLUMN_TYPES[dialect];
}

const COLUMN_TYPES: Readonly<Record<'sqlite' | 'postgres', ColumnTypes>> = {
  sqlite: {
    identifier: 'TEXT',
    text: 'TEXT',
    time: 'INTEGER',
    flag: 'INTEGER',
    counter: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    tableOptions: 'WITHOUT ROWID',
  },
  postgres: {
    identifier: 'TEXT COLLATE "C"',
    text: 'TEXT COLLATE "C"',
    time: 'BIGINT',
    flag: 'SMALLINT',
    counter: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    tableOptions: '',
  },
};

function mysqlColumnTypes(collation: string): ColumnTypes {
  const binary = `CHARACTER SET utf8mb4 COLLATE ${collation}`;
  return {
    identifier: `VARCHAR(255) ${binary}`,
    text: `MEDIUMTEXT ${binary}`,
    time: 'BIGINT',
    flag: 'SMALLINT',
    counter: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
    tableOptions: '',
  };
}

/** The binary collation that does not ignore trailing spaces; MariaDB and MySQL name it differently. */
async function binaryCollation(connection: SqlConnection): Promise<string> {
  const { rows } = await connection.execute<{ version: string }>('SELECT VERSION() AS version');
  return /mariadb/i.test(rows[0]?.version ?? '') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}
