import mysql from 'mysql2';
import promised from 'mysql2/promise';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { fromMysql, fromPostgres, fromSqlite } from 'portico';

/** What an application has is taken as it is, without a cast; what is not a pool is not. */
export const taken = () => [
  fromPostgres(new pg.Pool()),
  fromMysql(mysql.createPool('')),
  fromMysql(promised.createPool('')),
  fromSqlite(new DatabaseSync('file')),
];

// @ts-expect-error -- one connection is not a pool: two requests would be in one transaction
export const single = () => fromMysql(mysql.createConnection(''));

declare const betterSqlite3: {
  prepare(sql: string): { all(): unknown[] };
  exec(sql: string): object;
};
// @ts-expect-error -- another library has a SQLite of its own: in one process, neither sees the other's locks
export const foreign = () => fromSqlite(betterSqlite3);
