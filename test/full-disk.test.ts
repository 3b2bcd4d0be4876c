// @engines sqlite: it limits how large the file may become
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** Writes until a commit fails, and asks what became of that by another write, as the authorization server does. */
const WRITER = `
  import { openDatabase } from 'portico/host';
  const database = openDatabase('sqlite:' + process.argv[1], { directory: '/' });
  await database.execute('CREATE TABLE t (text TEXT)');
  const insert = (on) => on.execute('INSERT INTO t VALUES (?)', ['x'.repeat(4096)]);
  let [committed, asked] = [0, 0];
  const question = async (connection) => {
    asked += 1;
    await insert(connection);
    return true;
  };
  try {
    for (;;) {
      await database.transaction(insert, question);
      committed += 1;
    }
  } catch (error) {
    const { rows } = await database.execute('SELECT COUNT(*) AS count FROM t');
    console.log(JSON.stringify({ isAll: rows[0].count === committed, asked, isUnavailable: database.isUnavailable(error) }));
  }
  await database.close();
`;
/** Kibibytes; the file of the kit's empty schema would fit twice. */
const LARGEST_FILE = 1024;

// @shows AS-18.9
test('on a disk that is full, SQLite is asked once what became of a commit: nobody else brings it back', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const limited = `ulimit -f ${LARGEST_FILE}; exec "$0" "$@"`;
  const writer = ['--input-type=module', '--eval', WRITER, path.join(folder, 'full.sqlite')];
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, process.execPath, ...writer]);
  expect(JSON.parse(stdout)).toEqual({ isAll: true, asked: 1, isUnavailable: true });
});
