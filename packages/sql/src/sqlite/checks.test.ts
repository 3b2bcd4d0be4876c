import { describe, expect, test } from 'vitest';
import { getFileSystem, judgeFile } from './checks.ts';

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

  test('is unknown without a list of mounts', () => {
    expect(getFileSystem('/srv/app.sqlite', '')).toBeNull();
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

  // @shows AS-13.17
  test('warns about a disk that is nearly full', () => {
    expect(judgeFile('/srv/app.sqlite', { type: 'ext4', free: 50 * 2 ** 20 })).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringMatching(/^only 50 MiB of disk space is left for/) as string,
      },
    ]);
  });
});
