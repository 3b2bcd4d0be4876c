import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SqlConnection } from '../contract.ts';
import { openDatabase } from '../open-database.ts';
import { EXAMINATIONS, getFileSystem, judgeFile } from './checks.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /srv rw,relatime - nfs4 files:/srv rw,vers=4.2
24 22 0:22 / /srv/local rw,relatime shared:2 master:3 - xfs /dev/sdb1 rw
25 22 0:23 / /mnt/two\\040words rw - fuse.sshfs me@files:/ rw
26 22 0:24 / /data rw - ext4 /dev/sdc1 rw
27 22 0:25 / /data rw - cifs //files/data rw
`;

describe('the file system of a file', () => {
  test.each([
    ['/var/lib/app.sqlite', 'ext4'],
    ['/srv/app.sqlite', 'nfs4'],
    ['/srvs/app.sqlite', 'ext4'],
    ['/srv/local/app.sqlite', 'xfs'],
    ['/mnt/two words/app.sqlite', 'fuse.sshfs'],
    ['/data/app.sqlite', 'cifs'],
  ])('of %s is %s', (file, type) => {
    expect(getFileSystem(file, MOUNTS)).toBe(type);
  });

  test('is unknown without a list of mounts, or without a line for the file', () => {
    for (const mounts of ['', ' - ext4 x', '1 2 3 4 /srv rw', '1 2 3 4 / rw -  x', 'a b c d e'])
      expect(getFileSystem('/srv/app.sqlite', mounts), mounts).toBeNull();
    expect(getFileSystem('/data/app.sqlite', '23 22 0:21 / /srv rw - nfs4 x')).toBeNull();
  });

  test('is that of the longest mount point, in any order of the list', () => {
    const lines = MOUNTS.split('\n').toReversed().join('\n');
    expect(getFileSystem('/srv/local/app.sqlite', lines)).toBe('xfs');
    expect(getFileSystem('/srv', lines)).toBe('ext4');
  });
});

describe('the doctor', () => {
  const free = 2 ** 30;

  // @shows AS-13.17
  test.each(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph', 'fuse.sshfs'])(
    'reports a failure for an SQLite file on %s',
    (type) => {
      expect(judgeFile('/srv/app.sqlite', { type, free })).toMatchObject([
        {
          outcome: 'failing',
          detail: expect.stringContaining(`network file system (${type})`) as string,
          remedy: expect.stringMatching(/use PostgreSQL or MariaDB$/) as string,
        },
      ]);
    },
  );

  test.each(['ext4', 'xfs', 'btrfs', 'zfs', 'tmpfs', 'overlay', null])(
    'accepts an SQLite file on %s',
    (type) => {
      expect(judgeFile('/srv/app.sqlite', { type, free })).toMatchObject([{ outcome: 'ok' }]);
    },
  );

  test('says where the file is, and how much room it has', () => {
    const [found] = judgeFile('/srv/app.sqlite', { type: 'ext4', free: 1.5 * 2 ** 30 });
    expect(found?.detail).toBe('/srv/app.sqlite is on ext4, with 1536 MiB free');
    const [other] = judgeFile('/srv/app.sqlite', { type: null, free });
    expect(other?.detail).toBe('/srv/app.sqlite, with 1024 MiB free');
    const least = 100 * 2 ** 20;
    const outcome = (left: number) => judgeFile('/a', { type: null, free: left })[0]?.outcome;
    expect([outcome(least), outcome(least - 1)]).toEqual(['ok', 'warning']);
  });

  test('does not take a name for that of a network file system because it contains one', () => {
    for (const type of ['xnfs', 'nfs4x', 'cifs-', 'fuse.sshfsx', 'fusexsshfs', 'nfs5', 'smbx'])
      expect(judgeFile('/srv/app.sqlite', { type, free }), type).toMatchObject([{ outcome: 'ok' }]);
    for (const type of ['smb', 'smbfs', 'fuse.blobfuse', 'fuse.blobfuse2'])
      expect(judgeFile('/srv/app.sqlite', { type, free })[0]?.outcome, type).toBe('failing');
  });

  describe('examines the durability', () => {
    /** A database with these settings. */
    const withSettings = (settings: Readonly<Record<string, string | number>>): SqlConnection => ({
      async execute(sql) {
        const name = sql.replace('PRAGMA ', '');
        const rows = name in settings ? [{ [name]: settings[name] }] : [];
        return { rows: rows as never[], affected: 0 };
      },
    });
    const examine = async (settings: Readonly<Record<string, string | number>>) => {
      const [, run] = EXAMINATIONS.parts.find(([part]) => part === 'durability') ?? [];
      return run?.({ database: withSettings(settings) });
    };

    test.each([
      ['wal', 2, []],
      ['wal', 1, ['synchronous is 1', 'set PRAGMA synchronous = FULL']],
      ['DELETE', 3, []],
      ['delete', 2, ['synchronous is 2', 'set PRAGMA synchronous = EXTRA']],
      ['off', 2, ['journal_mode is off', 'set PRAGMA journal_mode = WAL']],
      ['memory', 2, ['journal_mode is memory', 'set PRAGMA journal_mode = WAL']],
    ])('of journal_mode %s and synchronous %i', async (journal, synchronous, found) => {
      const findings = (await examine({ journal_mode: journal, synchronous })) ?? [];
      const [detail, remedy = null] = found;
      const well = `a commit is confirmed when it is on disk (journal_mode ${journal.toLowerCase()})`;
      expect(findings.map(({ outcome }) => outcome)).toEqual([
        detail === undefined ? 'ok' : 'warning',
      ]);
      expect(findings[0]?.detail.split(': if the ')[0]).toBe(detail ?? well);
      expect(findings[0]?.remedy).toBe(remedy);
    });

    test('which a setting without a value does not tell', async () => {
      await expect(examine({ journal_mode: 'wal' })).rejects.toThrow('it has no synchronous');
    });
  });

  describe('examines the database file', () => {
    const examine = async (url: string) => {
      const database = openDatabase(url, { directory: '/' });
      onTestFinished(() => database.close());
      await database.execute("ATTACH '' AS other");
      const [, run] = EXAMINATIONS.parts.find(([part]) => part === 'database file') ?? [];
      const found = await run?.({ database });
      expect(await EXAMINATIONS.findUnready(database)).toBeNull();
      return found?.map(({ detail }) => detail).join('; ');
    };

    test('on its file system', async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'portico-checks-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = path.join(realpathSync(folder), 'app.sqlite');
      expect(await examine(`sqlite:${folder}/app.sqlite`)).toMatch(
        new RegExp(`${file} is on [a-z0-9.]+, with [1-9]\\d* MiB free`),
      );
      // Only Linux has a list of its mounts.
      vi.spyOn(files, 'readFile').mockRejectedValue(new Error('ENOENT'));
      syncBuiltinESMExports();
      expect(await examine(`sqlite:${folder}/app.sqlite`)).toMatch(
        new RegExp(`${file}, with [1-9]\\d* MiB free`),
      );
    });

    test('that is in memory', async () => {
      expect(await examine('sqlite::memory:')).toBe(
        'the database is in memory: all data is lost when the process ends',
      );
    });
  });

  // @shows AS-13.17
  test('warns about a disk that is nearly full', () => {
    expect(judgeFile('/srv/app.sqlite', { type: 'ext4', free: 50 * 2 ** 20 })).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringMatching(
          /^only 50 MiB of disk space is left for .* gets 503$/,
        ) as string,
      },
    ]);
  });
});
