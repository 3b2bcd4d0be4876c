// @engines all, long: it starts processes and breaks them
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import { FAULTS, type Fault, type FaultName } from './support/faults/faults.ts';
import {
  startOperated,
  type LogLine,
  type OperatedInstallation,
} from './support/faults/installation.ts';
import { startLoad, type Load } from './support/faults/load.ts';
import { SCALE } from './support/scale.ts';

/**
 * A person on call has the log, the doctor and docs/troubleshooting.md. Faults that do not concern
 * the store run on SQLite.
 */
const server = inject('databaseServer');
const NAMES = Object.keys(FAULTS) as readonly FaultName[];
const HERE = NAMES.filter((name) => {
  const { store } = FAULTS[name];
  if (server === undefined) return store !== 'PostgreSQL';
  // On MariaDB, a privilege of the account decides whether a server is read-only for it. The
  // account of these tests has every privilege.
  return server.startsWith('postgres') ? store === 'PostgreSQL' : name === 'replay';
}).slice(0, SCALE.faultsOnCall);
/** The maximum number of rounds until everything has happened that makes a fault visible. */
const MOST_ROUNDS = 80;
/** In milliseconds: the result of a probe is kept for a second. */
const POLLED = { timeout: 20_000, interval: 50 };

async function quoted(section: string): Promise<readonly RegExp[]> {
  const page = await readFile(path.join(ROOT, 'docs', 'troubleshooting.md'), 'utf8');
  const found = page
    .split('\n## ')
    .find((each) => each.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') === section);
  if (found === undefined) throw new Error(`No section ${section}`);
  return [...found.matchAll(/^> `(.+)`$/gm)].map(([, line = '']) => {
    const anything = (text: string) =>
      text
        .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        .replaceAll('…', '.+')
        // How many seconds depends on the requests before.
        .replaceAll(/\d+ s\b/g, String.raw`\d+ s`);
    return new RegExp(
      `^${line
        .split(/\{\w+\}/)
        .map(anything)
        .join('.+')}`,
    );
  });
}

interface Found {
  readonly name: FaultName;
  readonly installation: OperatedInstallation;
  readonly load: Load;
}

/** Causes the fault in an installation that worked just before. */
async function withFault(name: FaultName, look: (found: Found) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-on-call-'));
  const database = server === undefined ? null : await createDatabase(folder);
  const installation = await startOperated(database?.url);
  try {
    await look({ name, installation, load: await startLoad(installation) });
  } finally {
    await installation.close();
    await database?.drop();
    await rm(folder, { recursive: true });
  }
}

/**
 * Continues the load until the log has a matching line. Otherwise throws an error with the newest
 * lines.
 */
async function untilLogged(
  { installation, load }: Found,
  fault: Fault,
  wanted: readonly RegExp[],
): Promise<LogLine> {
  const before = installation.lines().length;
  await fault.inject(installation, load);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    await load.round();
    await fault.round?.(load);
    const line = installation
      .lines()
      .slice(before)
      .find(({ message }) => wanted.some((each) => each.test(message)));
    if (line !== undefined) return line;
  }
  const last = installation
    .lines()
    .slice(-5)
    .map(({ message }) => message);
  throw new Error(`None of ${wanted.join(', ')} in the log; its last lines: ${last.join('\n')}`);
}

describe.each(HERE)('docs/troubleshooting.md, for the fault: %s', (name) => {
  const fault: Fault = FAULTS[name];

  test('quotes log lines that appear with the fault and not before', async () => {
    const wanted = await quoted(fault.section);
    expect(wanted).not.toEqual([]);
    await withFault(name, async (found) => {
      expect(await found.load.round()).toEqual([200, 200, 200]);
      const { installation } = found;
      const healthy = await installation.doctor();
      expect(healthy.filter(({ outcome }) => outcome === 'failing')).toEqual([]);
      expect(await installation.failingChecks()).toEqual([]);
      const unlike = (message: string) => wanted.every((each) => !each.test(message));
      expect(installation.lines().every(({ message }) => unlike(message))).toBe(true);

      const audited = installation.audited().length;
      const line = await untilLogged(found, fault, wanted);
      expect(line).toMatchObject(fault.line(installation));
      expect(installation.audited().slice(audited)).toEqual(
        expect.arrayContaining([...fault.audited]),
      );
      expect(await found.load.round()).toEqual(fault.statuses);
      const failing = fault.ready === null ? [] : [fault.ready];
      await expect.poll(() => installation.failingChecks(), POLLED).toEqual(failing);
      const parts = (await installation.doctor())
        .filter(({ outcome }) => outcome === 'failing' || outcome === 'warning')
        .map(({ part }) => part)
        .filter((part) => !healthy.some((each) => each.part === part && each.outcome !== 'ok'));
      expect(parts).toEqual(fault.doctor);
    });
  });
});
