// @engines sqlite: it compiles the sources, and runs them
import { execFile } from 'node:child_process';
import { globSync, readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { linkDependencies } from '../tools/scripts/packages.ts';
import { NODE_COMPILE_CACHE, ROOT } from './support/console.ts';
import { RUNS_ALL } from './support/scale.ts';

const run = promisify(execFile);
const SERVER = path.join('packages', 'portico', 'src');
const FOLDERS = readdirSync(path.join(ROOT, SERVER, 'features')).toSorted();
const CODE_FLOW = path.join('test', 'support', 'code-flow.ts');
const PROFILE_START = path.join('test', 'support', 'profile-start.ts');

/** A copy of the packages. Tests delete features in it. */
let copy: string;
/** What each changed file of the copy contained, and where each deleted folder is kept. */
const changed = new Map<string, string>();
const deleted = new Map<string, string>();

beforeAll(async () => {
  // The short form compiles nothing, so it needs no copy.
  if (!RUNS_ALL) return;
  copy = await mkdtemp(path.join(tmpdir(), 'portico-features-'));
  for (const name of [
    'packages',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    CODE_FLOW,
    PROFILE_START,
  ])
    await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  linkDependencies(copy);
});
afterAll(async () => {
  if (RUNS_ALL) await rm(copy, { recursive: true });
});

afterEach(restore);

async function restore(): Promise<void> {
  for (const [file, content] of changed) await writeFile(file, content);
  for (const [folder, kept] of deleted) await rename(kept, folder);
  changed.clear();
  deleted.clear();
}

/** Changes a file of the copy until the test ends. */
async function change(file: string, to: (content: string) => string): Promise<void> {
  const content = await readFile(file, 'utf8');
  if (!changed.has(file)) changed.set(file, content);
  await writeFile(file, to(content));
}

/**
 * The list of MCP features is in a separate package. Its public names also come from the folders.
 */
const MCP = path.join('packages', 'mcp', 'src');
const MCP_FOLDERS = readdirSync(path.join(ROOT, MCP, 'features')).toSorted();

/** The name under which the list imports a folder's content. */
function importOf(list: string, folder: string): { readonly line: string; readonly name: string } {
  const [line = '', name = ''] =
    new RegExp(`^import \\{ (\\w+) \\} from './features/${folder}/index\\.ts';\n`, 'm').exec(
      list,
    ) ?? [];
  if (line === '') throw new Error(`features.ts does not import ./features/${folder}/index.ts`);
  return { line, name };
}

/**
 * Deletes a feature until the test ends: its folder, its place in the list, and in MCP, its public
 * names.
 */
async function deleteFeature(folder: string, source = SERVER): Promise<void> {
  await change(path.join(copy, source, 'features.ts'), (list) => {
    const { line, name } = importOf(list, folder);
    const place = new RegExp(String.raw`(?<![-/\w])${name}(?![-/\w]),?\s*`);
    return list.replace(line, '').replace(place, '');
  });
  const exported = new RegExp(`^export [^;]*? from './features/${folder}/[^;]*;\n`, 'gm');
  if (source === MCP)
    await change(path.join(copy, MCP, 'index.ts'), (index) => index.replaceAll(exported, ''));
  const at = path.join(copy, source, 'features', folder);
  const kept = path.join(copy, `deleted-${deleted.size}`);
  await rename(at, kept);
  deleted.set(at, kept);
}

/** The compiler's output for the copy. */
async function compile(): Promise<string> {
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '-p',
    'tsconfig.build.json',
    '--declaration',
    'false',
    '--emitDeclarationOnly',
    'false',
    '--noEmit',
    // One checker needs half the processor time of four.
    '--checkers',
    '1',
  ];
  return run(process.execPath, [compiler, ...options], { cwd: copy }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}

/**
 * A combination lacks many features. Each feature is missing in three of the eight, and no two of
 * them in the same three. So of any two features, each is tried without the other.
 */
const COMBINATIONS = [0, 1, 2, 3, 4, 5, 6, 7];
const THREES = COMBINATIONS.flatMap((one) =>
  COMBINATIONS.slice(one + 1).flatMap((two) =>
    COMBINATIONS.slice(two + 1).map((three) => [one, two, three]),
  ),
);
const FEATURES = [
  ...FOLDERS.map((folder) => ({ folder, source: SERVER })),
  ...MCP_FOLDERS.map((folder) => ({ folder, source: MCP })),
].map((feature, index) => ({ ...feature, missingIn: THREES[index] ?? [] }));

interface Tried {
  readonly without: string;
  readonly compiled: string;
  readonly statuses: unknown;
}
/** What happened in each combination. Each is tried once. */
const tried = new Map<number, Tried>();

async function tryCombination(combination: number): Promise<Tried> {
  const missing = FEATURES.filter(({ missingIn }) => missingIn.includes(combination));
  for (const { folder, source } of missing) await deleteFeature(folder, source);
  const env = { ...process.env, NODE_COMPILE_CACHE };
  const result = {
    without: missing.map(({ folder }) => folder).join(', '),
    compiled: await compile(),
    statuses: await run(process.execPath, [CODE_FLOW], { cwd: copy, env }).then(
      ({ stdout }) => JSON.parse(stdout) as unknown,
      String,
    ),
  };
  await restore();
  return result;
}

/** The results of the combinations that lack this feature. */
async function tryWithout(feature: string, from: string): Promise<readonly Tried[]> {
  const found = FEATURES.find(({ folder, source }) => folder === feature && source === from);
  const results: Tried[] = [];
  for (const combination of found?.missingIn ?? []) {
    const result = tried.get(combination) ?? (await tryCombination(combination));
    tried.set(combination, result);
    results.push(result);
  }
  expect(results).not.toEqual([]);
  return results;
}

describe.each(FOLDERS)('the source code without %s', (folder) => {
  test.runIf(RUNS_ALL)('compiles, and the core works', { timeout: 240_000 }, async () => {
    for (const { without, compiled, statuses } of await tryWithout(folder, SERVER)) {
      expect(compiled, `without ${without}`).toBe('');
      expect(statuses, `without ${without}`).toEqual([200, 200, 200, 401]);
    }
  });
});

describe.each(MCP_FOLDERS)('the MCP source code without %s', (folder) => {
  test.runIf(RUNS_ALL)('compiles', { timeout: 240_000 }, async () => {
    for (const { without, compiled } of await tryWithout(folder, MCP))
      expect(compiled, `without ${without}`).toBe('');
  });
});

test.runIf(RUNS_ALL).each([
  ['private-key-jwt', 'clientAssertions'],
  ['dpop', 'binding'],
  ['pushed-requests', 'directRequests'],
  ['signing-algorithms', 'signingAlgorithms'],
])('a server with the profile fapi2 does not start without %s', async (folder, part) => {
  await deleteFeature(folder);
  const { stdout } = await run(process.execPath, [PROFILE_START], { cwd: copy });
  expect(JSON.parse(stdout)).toEqual([
    `oauth_server:profile is set to fapi2, but no feature provides ${part}; add a feature that provides it`,
  ]);
});

test.each([
  [SERVER, FOLDERS],
  [MCP, MCP_FOLDERS],
])(
  'the feature list of %s has each feature once, and no feature imports a different one',
  async (from, folders) => {
    const list = await readFile(path.join(ROOT, from, 'features.ts'), 'utf8');
    const listed = (/= \[([^]*)\];/.exec(list)?.[1] ?? '').split(',').map((each) => each.trim());
    for (const folder of folders) {
      const { name } = importOf(list, folder);
      expect(listed.filter((each) => each === name)).toHaveLength(1);
      for (const file of globSync('*.ts', { cwd: path.join(ROOT, from, 'features', folder) })) {
        const source = await readFile(path.join(ROOT, from, 'features', folder, file), 'utf8');
        const others = folders.filter((each) => each !== folder && source.includes(`'../${each}/`));
        expect(others.map((each) => `${folder}/${file} imports ${each}`)).toEqual([]);
      }
    }
  },
);
