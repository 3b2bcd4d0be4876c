import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What a test may need beyond Node and the packages of `npm ci`. `npm test` needs none of them and
 * leaves out every test that asks for one, also where it is installed. `npm run test:all` runs them
 * all, and fails when one is missing.
 */
export const EXTRAS = {
  chromium: { program: 'chromium', package: 'chromium' },
  nginx: { program: 'nginx', package: 'nginx-light' },
  caddy: { program: 'caddy', package: 'caddy' },
  /** Apache, with what it needs to let people sign in. */
  apache: { program: 'apache2', package: 'libapache2-mod-auth-openidc' },
  systemd: { program: 'systemd-analyze', package: 'systemd' },
  prometheus: { program: 'prometheus', package: 'prometheus' },
  softhsm: { program: 'softhsm2-util', package: 'softhsm2' },
  opensc: { program: 'pkcs11-tool', package: 'opensc' },
  openssl: { program: 'openssl', package: 'openssl' },
  postgres: { program: 'postgres', package: 'postgresql-15' },
  mariadb: { program: 'mariadbd', package: 'mariadb-server' },
  pgbouncer: { program: 'pgbouncer', package: 'pgbouncer' },
  java: { program: 'javac', package: 'openjdk-17-jdk-headless' },
  maven: { program: 'mvn', package: 'maven' },
  python: { program: 'python3', package: 'python3' },
  git: { program: 'git', package: 'git' },
  curl: { program: 'curl', package: 'curl' },
  go: { program: 'go', package: null },
  cargo: { program: 'cargo', package: null },
  unshare: { program: 'unshare', package: 'util-linux' },
  /** Packages of the npm registry that a test installs. */
  npm: { program: 'npm', package: null },
  /** The superuser: the test makes files for another account. */
  root: { program: null, package: null },
} as const satisfies Readonly<
  Record<string, { readonly program: string | null; readonly package: string | null }>
>;

export type ExtraName = keyof typeof EXTRAS;

export function isExtra(name: string): name is ExtraName {
  return Object.hasOwn(EXTRAS, name);
}

/** Where Debian puts programs that the PATH of an ordinary account leaves out. */
const FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** The path of a program, or null when it is not installed. */
function find(program: string): string | null {
  const onPath = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '');
  for (const folder of [...FOLDERS, ...onPath]) {
    const file = path.join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** @throws {Error} When it is not installed; the message names Debian's package. */
export function programOf(name: ExtraName): string {
  const { program, package: debian } = EXTRAS[name];
  const file = program === null ? null : find(program);
  if (file !== null) return file;
  throw new Error(
    `${name} is not installed${debian === null ? '' : ` (Debian package ${debian})`}.`,
  );
}

// `node test/support/extras.ts`, for CI: prints the Debian packages that are missing.
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const missing = Object.values(EXTRAS).flatMap(({ program, package: debian }) =>
    program !== null && debian !== null && find(program) === null ? [debian] : [],
  );
  process.stdout.write(`${missing.join(' ')}\n`);
}
