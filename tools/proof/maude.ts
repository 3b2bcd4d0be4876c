import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Check, Property } from './checks.ts';

/** The folder of Maude, for Python. `npm run proof:fetch` puts it there. */
export const MAUDE = path.join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '.cache',
  'maude',
  '1.6.0',
);

/** The files of the model, in the order in which Maude reads them. */
export const MODULES: readonly string[] = ['terms', 'protocol', 'properties', 'scenarios'];

/** What to search for: a broken property, or facts that are true at the same time. */
export type Goal = { readonly broken: readonly Property[] } | { readonly reached: string };

/** A search through all states that a scenario can reach. */
export interface Search {
  /** A term of scenarios.maude. */
  readonly scenario: string;
  /** The checks that the run leaves out. */
  readonly removed: readonly Check[];
  readonly goal: Goal;
}

/** The result of a search. */
export interface Finding {
  readonly found: boolean;
  /** The rules that lead to the state, in order. Empty if there is no such state. */
  readonly steps: readonly string[];
  /** The number of different states that Maude visited. */
  readonly states: number;
  readonly seconds: number;
}

/**
 * Runs a search. If Maude is missing, throws an Error that says what to do. If Maude fails or warns
 * about anything, throws an Error with Maude's message.
 */
export async function search(wanted: Search): Promise<Finding> {
  if (!existsSync(MAUDE))
    throw new Error(`${MAUDE} is missing: npm run proof:fetch brings it (Python 3 with pip)`);
  const begin = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-maude-'));
  try {
    const file = path.join(folder, 'search.maude');
    await writeFile(file, commandsOf(wanted));
    const lines = await start(file);
    return read(lines, (performance.now() - begin) / 1000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the commands for Maude. */
function commandsOf({ scenario, removed, goal }: Search): string {
  const missing = removed.length === 0 ? 'nothing' : removed.join(', ');
  const wanted =
    'reached' in goal
      ? `{ ${goal.reached} F:Facts }`
      : `{ F:Facts } such that ${goal.broken.map((each) => `broken(${each}, F:Facts)`).join(' or ')}`;
  return [
    `mod RUN is protecting SCENARIOS . eq removed = (${missing}) . endm`,
    'set show timing off .',
    `search [1] in RUN : { ${scenario} } =>* ${wanted} .`,
    '',
  ].join('\n');
}

async function start(file: string): Promise<readonly string[]> {
  const modules = MODULES.map((name) => path.join(import.meta.dirname, `${name}.maude`));
  const python = spawn('python3', [path.join(import.meta.dirname, 'run.py'), ...modules, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: MAUDE, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    python.once('error', (cause) =>
      reject(new Error('python3 could not be started: Python 3 is needed', { cause })),
    );
    python.once('close', resolve);
  });
  const [said, complained, code] = await Promise.all([
    text(python.stdout),
    text(python.stderr),
    ended,
  ]);
  if (code !== 0 || complained !== '') throw new Error(`Maude failed:\n${complained}${said}`);
  return said.split('\n');
}

function read(lines: readonly string[], seconds: number): Finding {
  const states = lines.map((line) => /^states: (\d+)/.exec(line)?.[1]).find(Boolean);
  if (states === undefined) throw new Error(`Maude searched nothing:\n${lines.join('\n')}`);
  const found = lines.some((line) => line.startsWith('Solution 1 '));
  if (!found && !lines.includes('No solution.'))
    throw new Error(`Maude has no result:\n${lines.join('\n')}`);
  // The labels follow the bindings of the solution, one per line.
  const steps = found ? lines.filter((line) => /^[a-z]+(-[a-z]+)+$/.test(line)) : [];
  return { found, steps, states: Number(states), seconds };
}
