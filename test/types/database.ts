import mysql from 'mysql2';
import promised from 'mysql2/promise';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { fromMysql, fromPostgres, fromSqlite } from 'portico';

/** The pool or database of an application is accepted without a cast. Anything else is refused. */
export const taken = () => [
  fromPostgres(new pg.Pool()),
  fromMysql(mysql.createPool('')),
  fromMysql(promised.createPool('')),
  fromSqlite(new DatabaseSync('file')),
];

// @ts-expect-error -- a connection is not a pool: two requests would share a transaction
export const single = () => fromMysql(mysql.createConnection(''));

declare const betterSqlite3: {
  prepare(sql: string): { all(): unknown[] };
  exec(sql: string): object;
};
// @ts-expect-error -- this is a second copy of SQLite; neither copy sees the locks of the other
export const foreign = () => fromSqlite(betterSqlite3);
