import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Programs that some tests need in addition to Node and the packages of `npm ci`. `npm test` skips
 * all tests that need one, even if the program is installed. `npm run test:all` runs these tests,
 * and fails if a program is missing.
 */
export const EXTRAS = {
  chromium: { program: 'chromium', package: 'chromium' },
  nginx: { program: 'nginx', package: 'nginx-light' },
  caddy: { program: 'caddy', package: 'caddy' },
  /** Apache, with the module that lets people sign in. */
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
  jq: { program: 'jq', package: 'jq' },
  /** Counts instructions for `tools/bench/cost-check.ts`. */
  valgrind: { program: 'valgrind', package: 'valgrind' },
  go: { program: 'go', package: null },
  cargo: { program: 'cargo', package: null },
  unshare: { program: 'unshare', package: 'util-linux' },
  /** The npm registry, from which a test installs packages. */
  npm: { program: 'npm', package: null },
  /** The superuser, because the test creates files for another account. */
  root: { program: null, package: null },
} as const satisfies Readonly<
  Record<string, { readonly program: string | null; readonly package: string | null }>
>;

export type ExtraName = keyof typeof EXTRAS;

export function isExtra(name: string): name is ExtraName {
  return Object.hasOwn(EXTRAS, name);
}

/** Folders with Debian's programs that are not in the PATH of an ordinary account. */
const FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** Returns the path of a program, or null if it is not installed. */
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
      // The program is not in this folder.
    }
  }
  return null;
}

/**
 * Returns the path of an extra program.
 * @throws {Error} When it is not installed; the message names Debian's package.
 */
export function programOf(name: ExtraName): string {
  const { program, package: debian } = EXTRAS[name];
  const file = program === null ? null : find(program);
  if (file !== null) return file;
  throw new Error(
    `${name} is not installed${debian === null ? '' : ` (Debian package ${debian})`}.`,
  );
}

// `node test/support/extras.ts` is for CI. It prints the Debian packages that are missing.
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const missing = Object.values(EXTRAS).flatMap(({ program, package: debian }) =>
    program !== null && debian !== null && find(program) === null ? [debian] : [],
  );
  process.stdout.write(`${missing.join(' ')}\n`);
}
