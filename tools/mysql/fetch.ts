/**
 * Downloads MySQL, which the tests of the project `mysql` need. Debian's stable release does not
 * have MySQL, so this uses Debian's unstable release, with its libraries. Nothing is installed:
 * `apt-get` checks the signatures and downloads the packages, and this script unpacks them into a
 * folder.
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MYSQL_FILES } from './place.ts';

const run = promisify(execFile);

const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Returns the line for Debian's unstable release, on the mirror that this machine already uses. */
async function source(): Promise<string> {
  const { stdout } = await run('apt-get', ['indextargets', '--format', '$(ORIGIN) $(REPO_URI)']);
  const mirror = /^Debian (\S+\/debian\/?)$/m.exec(stdout)?.[1];
  if (mirror === undefined)
    throw new Error('apt-get has no mirror of Debian; run apt-get update first');
  return `deb [signed-by=${KEYS}] ${mirror} sid main`;
}

/** The settings with which `apt-get` uses this folder instead of the system. */
const settings = (folder: string) => `
Dir::State "${folder}/state";
Dir::State::status "${folder}/state/status";
Dir::Cache "${folder}/cache";
Dir::Etc::SourceList "${folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Acquire::Languages "none";
Acquire::Retries "3";
`;

async function fetch(): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'portico-mysql-fetch-'));
  const unpacked = `${MYSQL_FILES.folder}.new`;
  try {
    for (const folder of ['state/lists/partial', 'cache/archives/partial'])
      await mkdir(path.join(work, folder), { recursive: true });
    await writeFile(path.join(work, 'state', 'status'), '');
    await writeFile(path.join(work, 'sources.list'), `${await source()}\n`);
    await writeFile(path.join(work, 'apt.conf'), settings(work));
    // apt-get downloads as an unprivileged account.
    await chmod(work, 0o755);
    const options = { env: { ...process.env, APT_CONFIG: path.join(work, 'apt.conf') } };
    await run('apt-get', ['-qq', 'update'], options);
    const download = ['-qq', '--yes', '--download-only', '--no-install-recommends', 'install'];
    await run('apt-get', [...download, 'mysql-server-core'], { ...options, maxBuffer: 2 ** 26 });
    await rm(unpacked, { recursive: true, force: true });
    await mkdir(unpacked, { recursive: true });
    for (const file of globSync('cache/archives/*.deb', { cwd: work }))
      await run('dpkg-deb', ['--extract', path.join(work, file), unpacked]);
    await rm(MYSQL_FILES.folder, { recursive: true, force: true });
    await rename(unpacked, MYSQL_FILES.folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (!existsSync(MYSQL_FILES.server)) await fetch();
