// node tools/bench/programs.ts [zitadel-oidc] [bare-go] [spring]
//
// Builds the targets that are not written in JavaScript. They are optional: nothing else needs Go
// or Java. `zitadel-oidc` and `bare-go` need Go 1.26 and a C compiler (for SQLite). `spring` needs
// Maven and a JDK of version 21 or newer in JAVA_HOME or in the path.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** A target that is a compiled program instead of a Node module. */
export interface Program {
  /** The command that starts it. It gets `seed` or `serve` as its argument. */
  readonly command: readonly string[];
  /** Another target that creates the database, if the program uses that target's schema. */
  readonly seededBy?: string;
  /** How long the program runs under load before the measurement, in seconds. */
  readonly warmUp: number;
  /** The name and version of what it runs, for the tables. */
  readonly version: string;
  /** Whether it runs on SQLite too. All programs run on PostgreSQL. */
  readonly onSqlite: boolean;
}

/** The folder of this package, which holds the sources of the programs. */
const ROOT = path.join(
  import.meta.dirname,
  path.extname(import.meta.filename) === '.ts' ? '.' : '..',
);
const BUILT = path.join(ROOT, '.build');
const OLDEST_JAVA = 21;

function javaTool(name: string): string {
  const home = process.env['JAVA_HOME'];
  return home === undefined || home === '' ? name : path.join(home, 'bin', name);
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  // The Go runtime counts the cores that it can use, so GOMAXPROCS is 1.
  'zitadel-oidc': {
    command: [path.join(BUILT, 'zitadel-oidc')],
    warmUp: 0,
    version: 'zitadel/oidc 3.52.0',
    onSqlite: true,
  },
  'bare-go': {
    command: [path.join(BUILT, 'bare-go')],
    seededBy: 'bare',
    warmUp: 0,
    version: 'Go 1.26',
    onSqlite: true,
  },
  spring: {
    command: [
      javaTool('java'),
      // The serial collector has the highest throughput on one core. The heap does not grow during
      // the measurement. Compiler threads stay alive, so that their processor time is counted.
      '-XX:+UseSerialGC',
      '-Xms512m',
      '-Xmx512m',
      '-XX:-UseDynamicNumberOfCompilerThreads',
      '-jar',
      path.join(BUILT, 'spring', 'server.jar'),
    ],
    warmUp: 60,
    version: 'Spring Authorization Server 7.1',
    onSqlite: false,
  },
};

/** Returns the names of the programs that are built and run on this engine. */
export function builtPrograms(engine: 'SQLite' | 'PostgreSQL'): readonly string[] {
  return Object.entries(PROGRAMS)
    .filter(([, { command }]) => existsSync(command.at(-1) ?? ''))
    .filter(([, { onSqlite }]) => onSqlite || engine === 'PostgreSQL')
    .map(([name]) => name);
}

/** Returns the program of a target, or null if the target is a Node module. */
export function programOf(name: string): Program | null {
  const program = PROGRAMS[name];
  if (program === undefined) return null;
  const file = program.command.at(-1) ?? '';
  if (!existsSync(file))
    throw new Error(`${name} is not built. Run \`node tools/bench/programs.ts ${name}\`.`);
  return program;
}

function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    ...options,
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Runs the command that tells a tool's version. Says what to install if the tool is missing. */
function requireTool(tool: string, args: readonly string[], advice: string): string {
  try {
    return run(tool, args);
  } catch {
    throw new Error(`There is no \`${tool}\`. ${advice}`);
  }
}

function buildGo(name: string): void {
  requireTool('go', ['version'], `Install Go 1.26 or newer to build ${name}.`);
  const compiler = run('go', ['env', 'CC']).trim();
  requireTool(
    compiler,
    ['--version'],
    `Install a C compiler: the driver of SQLite is written in C.`,
  );
  run('go', ['build', '-trimpath', '-o', path.join(BUILT, name), '.'], {
    cwd: path.join(ROOT, 'peers', name),
    env: { ...process.env, CGO_ENABLED: '1' },
  });
}

function buildSpring(): void {
  const advice = `Install Maven and a JDK of version ${OLDEST_JAVA} or newer, and set JAVA_HOME to the JDK.`;
  const version = requireTool(javaTool('javac'), ['-version'], advice);
  if (Number(/javac (\d+)/.exec(version)?.[1] ?? 0) < OLDEST_JAVA)
    throw new Error(`${version.trim()} is too old: virtual threads need 21. ${advice}`);
  requireTool('mvn', ['--version'], advice);
  run('mvn', ['-B', '-q', 'package', `-DbuildDirectory=${path.join(BUILT, 'spring')}`], {
    cwd: path.join(ROOT, 'peers', 'spring'),
  });
}

const BUILDS: Readonly<Record<string, () => void>> = {
  'zitadel-oidc': () => buildGo('zitadel-oidc'),
  'bare-go': () => buildGo('bare-go'),
  spring: buildSpring,
};

if (process.argv[1] === import.meta.filename) {
  const asked = process.argv.slice(2);
  for (const name of asked.length === 0 ? Object.keys(BUILDS) : asked) {
    const build = BUILDS[name];
    try {
      if (build === undefined)
        throw new Error(`There is no such program. There are ${Object.keys(BUILDS).join(', ')}.`);
      build();
      process.stdout.write(`${name} is built.\n`);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${name} is not built. ${(error as Error).message}\n`);
    }
  }
}
