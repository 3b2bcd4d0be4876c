// The groups of tests that `npm run coverage` runs. Each takes minutes. If a run fails, continue
// with `--add --group <name>`.
import { testFiles, type ProjectName } from '../../test/support/test-files.ts';

export interface Group {
  readonly name: string;
  /** The project of Vitest: an engine. */
  readonly project: string;
  /** Whether the files run in their long form. */
  readonly long: boolean;
  readonly files: readonly string[];
}

/** Tests that read files, build, measure time or compile. Other tests take the same branches. */
const LEFT_OUT =
  /^test\/(benchmark|build|bundlers|code-blocks|configuration-page|coverage-report|diagrams|docs|feature-deletion|fuzzing|guides|history-checker|layers|links|model|mutation-report|package-types|progress|prose|protocol-proof|public-names|release|same-work|site|soak|test-files|timing|types|words|workflows)/;

/**
 * Tests of the database code. On MariaDB, all other tests take the same branches as on PostgreSQL.
 */
const DATABASE =
  /answered|database|doctor|driver|failover|feature-tables|health|idle|importing|lost|moving|outage|outbox|overtaken|pool|races|round-trips|schema|store|transactions|unanswered|unavailable|access-locks|client-lifecycle|engines/;

/** Files with only a long form that take branches which no other file takes. */
const LONG: readonly string[] = [
  'packages/portico/src/http/outbound/fetch-json.test.ts',
  'packages/sql/src/owned-files.test.ts',
  'test/access-terminal.test.ts',
  'test/another-host.test.ts',
  'test/assistant-hosts.test.ts',
  'test/assistant-setup.test.ts',
  'test/back-channel-logout.test.ts',
  'test/backup.test.ts',
  'test/configuration.test.ts',
  'test/console-loading.test.ts',
  'test/console.test.ts',
  'test/doctor-online.test.ts',
  'test/key-delivery.test.ts',
  'test/key-owners.test.ts',
  'test/key-rotation.test.ts',
  'test/key-signer-pkcs11.test.ts',
  'test/list-bounds.test.ts',
  'test/mcp-bodies.test.ts',
  'test/mcp-conformance.test.ts',
  'test/moving.test.ts',
  'test/mounts/leaving.test.ts',
  'test/mounts/nest-express.test.ts',
  'test/mounts/nest-fastify.test.ts',
  'test/mounts/next.test.ts',
  'test/printed-migrations.test.ts',
  'test/pruning.test.ts',
  'test/read-only-keys.test.ts',
  'test/signing-algorithms.test.ts',
  'test/start.test.ts',
  'test/telemetry.test.ts',
  'test/waiting-requests.test.ts',
];

/** Returns the groups: the short tests of each engine, SQLite in parts, and the long tests. */
export function groups(root: string): readonly Group[] {
  const all = testFiles(root).filter(({ path }) => !LEFT_OUT.test(path));
  const short = (project: ProjectName) =>
    all.filter((each) => each.short && each.engines.includes(project)).map(({ path }) => path);
  const sqlite = short('sqlite');
  const part = (name: string, has: (file: string) => boolean): Group => ({
    name,
    project: 'sqlite',
    long: false,
    files: sqlite.filter(has),
  });
  return [
    part('packages', (file) => file.startsWith('packages/')),
    part('sqlite-a-g', (file) => /^test\/[a-g]/.test(file)),
    part('sqlite-h-p', (file) => /^test\/[h-p]/.test(file)),
    part('sqlite-q-z', (file) => /^test\/[q-z]/.test(file)),
    { name: 'postgres', project: 'postgres', long: false, files: short('postgres') },
    {
      name: 'mariadb',
      project: 'mariadb',
      long: false,
      files: short('mariadb').filter((file) => DATABASE.test(file)),
    },
    { name: 'mysql', project: 'mysql', long: false, files: short('mysql') },
    { name: 'clusters', project: 'clusters', long: false, files: short('clusters') },
    { name: 'long', project: 'sqlite', long: true, files: LONG },
  ];
}
