// @engines sqlite, needs java python: TLC checks the model without a database; `npm run model:fetch` downloads TLC
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { BROKEN, checkedOf, EXHAUSTIVE } from '../tools/model/bounds.ts';
import { runTlc } from '../tools/model/tlc.ts';
import { FILE, written } from '../tools/model/traces.ts';
import { findViolations } from './support/history/checker.ts';
import type { Operation } from './support/history/recorder.ts';
import { explain } from './support/model/explaining.ts';

/**
 * Checks the promises about codes, refresh tokens and revocations in every state of a small model
 * (tools/model/README.md).
 */

describe('every state of the model satisfies every promise', () => {
  test.each(Object.entries(EXHAUSTIVE))('%s', async (name, bounds) => {
    const { violated, steps, states, depth, seconds } = await runTlc({
      module: 'Grants',
      config: checkedOf(bounds),
    });
    process.stdout.write(
      `${name}: ${states} states, ${depth} steps deep, ${Math.round(seconds)} s\n`,
    );
    expect(violated, steps.join(', ')).toBeNull();
    expect(states).toBeGreaterThan(1000);
  });
});

describe('the model check finds a planted fault', () => {
  test.each(BROKEN)('$fault', async ({ fault, violates, bounds }) => {
    const { violated, steps } = await runTlc({
      module: 'Grants',
      config: checkedOf(bounds),
      workers: 1,
    });
    process.stdout.write(`${fault}: ${steps.join(', ')}\n`);
    expect(violated).toBe(violates);
    expect(steps.length).toBeGreaterThan(0);
  });

  test('and the tested faults are exactly those of the model', async () => {
    const module = await readFile(
      path.join(import.meta.dirname, '..', 'tools', 'model', 'Grants.tla'),
      'utf8',
    );
    const faults = new Set([...module.matchAll(/Fault [=#] "([^"]+)"/g)].map(([, fault]) => fault));
    expect(new Set(BROKEN.map(({ fault }) => fault))).toEqual(faults);
  });
});

test('the traces that the servers must follow are generated from the current model', async () => {
  // If this fails, run: npm run model:traces
  expect(await written()).toBe(await readFile(FILE, 'utf8'));
});

/**
 * The histories that test/histories.test.ts recorded on each engine (with KEEP_HISTORY). JSON
 * cannot represent infinite numbers.
 */
const HISTORIES = path.join(import.meta.dirname, '..', 'tools', 'model', 'histories');
const kept = await Promise.all(
  globSync('*.json', { cwd: HISTORIES }).map(async (file) => {
    const text = await readFile(path.join(HISTORIES, file), 'utf8');
    const operations = (JSON.parse(text) as readonly Operation[]).map((each) => ({
      ...each,
      end: each.end ?? Infinity,
    }));
    return { file, window: file.includes('window'), operations };
  }),
);

describe('the model explains recorded responses under faults', () => {
  test.each(kept)('$file', async ({ operations, window }) => {
    const {
      asked,
      operations: count,
      unexplained,
      seconds,
    } = await explain(operations, { window, most: 99 });
    process.stdout.write(
      `${asked} authorizations of ${count} operations, ${Math.round(seconds)} s\n`,
    );
    expect(unexplained).toEqual([]);
    expect(asked).toBeGreaterThan(5);
  });

  test('and rejects the same falsified histories as the history checker', async () => {
    const [history] = kept.filter(({ window }) => !window);
    const falsified = falsifiedOf(history?.operations ?? []).slice(0, 30);
    const { unexplained, asked } = await explain(falsified.flat(), { window: false, most: 99 });
    const refused = findViolations(falsified.flat()).map(({ family }) => family);
    process.stdout.write(
      `${asked} authorizations with one answer falsified: ${refused.length} without an explanation\n`,
    );
    expect(unexplained.toSorted()).toEqual(refused.toSorted());
    expect(refused.length).toBeGreaterThan(10);
  });
});

/**
 * For each response of each authorization, a copy of the authorization in which that response is
 * replaced.
 */
function falsifiedOf(operations: readonly Operation[]): readonly (readonly Operation[])[] {
  const families = Map.groupBy(operations, ({ families }) => families.join());
  return [...families.values()].flatMap((all) => {
    const isKnown = all.every(
      ({ families, answer }) => families.length === 1 && answer !== 'unavailable',
    );
    if (!isKnown) return [];
    return all.flatMap((operation, index) => {
      const other = otherAnswer(operation);
      if (other === null) return [];
      const family = `${operation.families.join()}, another answer to ${operation.id}`;
      const changed = all.with(index, { ...operation, ...other });
      return [changed.map((each) => renamed(each, family))];
    });
  });
}

function otherAnswer({ request, answer }: Operation): Partial<Operation> | null {
  if (answer === 'good') return { answer: 'dead' };
  if (answer === 'dead') return { answer: 'good' };
  if (request.kind === 'refresh' && answer === 400) return { answer: 200 };
  return null;
}

function renamed(operation: Operation, family: string): Operation {
  const { request } = operation;
  return {
    ...operation,
    families: [family],
    request: 'family' in request ? { ...request, family } : request,
  };
}
