import path from 'node:path';

/**
 * Where `npm run mysql:fetch` puts MySQL. The account that runs the server must be able to read it.
 */
const FOLDER = path.join('/var/tmp', 'portico-mysql');

/** The programs and files of MySQL. */
export const MYSQL_FILES = {
  folder: FOLDER,
  server: path.join(FOLDER, 'usr', 'sbin', 'mysqld'),
  base: path.join(FOLDER, 'usr'),
  /** The server's libraries, and the loader that belongs to them. */
  libraries: path.join(FOLDER, 'usr', 'lib', 'x86_64-linux-gnu'),
  loader: path.join(FOLDER, 'usr', 'lib', 'x86_64-linux-gnu', 'ld-linux-x86-64.so.2'),
} as const;
