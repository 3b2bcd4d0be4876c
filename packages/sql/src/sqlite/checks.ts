import { readFile, realpath, statfs } from 'node:fs/promises';
import { failing, ok, warning, type Finding } from '../findings.ts';
import { orOk } from '../judging.ts';
import type { ExaminedDatabase, Examinations } from '../examinations.ts';

type Store = ExaminedDatabase['database'];

async function pragma(database: Store, name: string): Promise<string> {
  const { rows } = await database.execute<Readonly<Record<string, string | number>>>(
    `PRAGMA ${name}`,
  );
  const value = rows[0]?.[name];
  if (value === undefined) throw new Error(`it has no ${name}`);
  return String(value);
}

/**
 * The values FULL and EXTRA of `PRAGMA synchronous`. With a value below FULL, a commit can return
 * before its data is on disk. In the journal mode DELETE, removing the journal is the commit, so
 * the value must be EXTRA.
 */
const [FULL, EXTRA] = [2, 3];

async function examineDurability({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const synchronous = await pragma(database, 'synchronous');
  const journal = (await pragma(database, 'journal_mode')).toLowerCase();
  const [least, name] = journal === 'delete' ? [EXTRA, 'EXTRA'] : [FULL, 'FULL'];
  return orOk(
    [
      Number(synchronous) < least
        ? warning(
            `synchronous is ${synchronous}: if the machine crashes, the last confirmed writes ` +
              'are lost, including revocations',
            `set PRAGMA synchronous = ${name}`,
          )
        : null,
      ['off', 'memory'].includes(journal)
        ? warning(
            `journal_mode is ${journal}: if the process crashes, the file may be corrupted`,
            'set PRAGMA journal_mode = WAL',
          )
        : null,
    ],
    `a commit is confirmed when it is on disk (journal_mode ${journal})`,
  );
}

async function examineFile({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const { rows } = await database.execute<{ readonly name: string; readonly file: string | null }>(
    'PRAGMA database_list',
  );
  const file = rows.find(({ name }) => name === 'main')?.file ?? '';
  if (file === '') return [ok('the database is in memory: all data is lost when the process ends')];
  const found = await realpath(file);
  const { bavail, bsize } = await statfs(found);
  // This file exists only on Linux.
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return judgeFile(found, { type: getFileSystem(found, mounts), free: bavail * bsize });
}

/** The types of file systems that several machines can share. */
const NETWORK =
  /^(?:nfs4?|cifs|smb\d?|smbfs|ceph|glusterfs|lustre|gpfs|afs|beegfs|ocfs2|gfs2|ncpfs|fuse\.(?:sshfs|s3fs|gcsfuse|glusterfs|ceph|rclone|juicefs|blobfuse2?))$/;

const LITTLE = 100 * 1024 * 1024;

/**
 * Reports problems with a database file. `free` is in bytes. `type` is the type of the file system,
 * or null if it is unknown.
 */
export function judgeFile(
  file: string,
  { type, free }: { readonly type: string | null; readonly free: number },
): readonly Finding[] {
  const left = `${Math.floor(free / (1024 * 1024))} MiB`;
  return orOk(
    [
      type !== null && NETWORK.test(type)
        ? failing(
            `${file} is on a network file system (${type}), where SQLite cannot rely on file ` +
              'locks: two processes may write at once, and a token may be used twice',
            'move the database file to a local disk; for several machines, use PostgreSQL or ' +
              'MariaDB',
          )
        : null,
      free < LITTLE
        ? warning(
            `only ${left} of disk space is left for ${file}: when the disk is full, every write ` +
              'gets 503',
            'free disk space, or move the file',
          )
        : null,
    ],
    `${file}${type === null ? '' : ` is on ${type}`}, with ${left} free`,
  );
}

/**
 * Returns the type of the file system that contains a file. `mountinfo` is the content of
 * `/proc/self/mountinfo` (proc(5)). Uses the longest matching mount point. If several are equal,
 * uses the last one, because it covers the earlier ones. Returns null if no line matches.
 */
export function getFileSystem(file: string, mountinfo: string): string | null {
  let found: { readonly length: number; readonly type: string } | null = null;
  for (const line of mountinfo.split('\n')) {
    const [mount = '', source = ''] = line.split(' - ', 2);
    const point = mount.split(' ')[4]?.replaceAll(/\\([0-7]{3})/g, unescape);
    const type = source.split(' ')[0] ?? '';
    if (point === undefined || type === '') continue;
    const contains = file.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (contains && point.length >= (found?.length ?? 0)) found = { length: point.length, type };
  }
  return found?.type ?? null;
}

/**
 * Decodes a character of mountinfo. Spaces, tabs, line breaks and backslashes are written there as
 * three octal digits.
 */
function unescape(_: string, octal: string): string {
  return String.fromCodePoint(Number.parseInt(octal, 8));
}

export const EXAMINATIONS: Examinations = {
  parts: [
    ['durability', examineDurability],
    ['database file', examineFile],
  ],
  findUnready: async () => null,
};
