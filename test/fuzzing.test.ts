// @engines sqlite, long: it fuzzes the parsers, and a separate application
import { beforeAll, describe, expect, test } from 'vitest';
import { changedJson } from '../tools/fuzz/engine/json-mutations.ts';
import { createRandom } from '../tools/fuzz/engine/random.ts';
import { FAULTS } from '../tools/fuzz/faults.ts';
import { corpusOf, fuzz, targetNames, type Result } from '../tools/fuzz/pool.ts';
import { LONGEST, RUNS_ALL, SCALE } from './support/scale.ts';

/**
 * The time limit in milliseconds. It is the time to start all threads on a busy machine, plus the
 * time for which they run.
 */
const PATIENCE = 300_000 + SCALE.fuzzSeconds * 2000;

/**
 * Use a fixed seed, so that a change is tested with the same inputs as the code before it. In the
 * long form and with `npm run fuzz`, each run uses different inputs.
 */
const SEED = LONGEST ? Date.now() % 2 ** 31 : 64;

const told = ({ findings }: Result) =>
  findings.map(({ kind, message, input }) => `${kind}: ${message}\nof the input ${input}`);

describe('fuzzed input from unauthenticated clients', () => {
  const results = new Map<string, Result>();

  beforeAll(async () => {
    // All targets run at the same time, so a minute for each is a minute in total.
    const targets = targetNames();
    const all = await fuzz({
      targets,
      seconds: SCALE.fuzzSeconds,
      atOnce: RUNS_ALL ? targets.length : 2,
      seed: SEED,
    });
    for (const result of all) results.set(result.target, result);
  }, PATIENCE);

  test.each(targetNames())('gets a valid response in time: %s', (name) => {
    const result = results.get(name);
    expect(result === undefined ? 'it did not run' : told(result)).toEqual([]);
    const inputs = result?.summary?.inputs ?? 0;
    expect(inputs).toBeGreaterThan(corpusOf(name).length);
  });
});

test.each(FAULTS.slice(0, SCALE.plantedFaults))(
  'the fuzzer finds this planted fault: $name ($target)',
  async (fault) => {
    const [result] = await fuzz({ targets: [], faults: [fault], seconds: 120, atOnce: 1, seed: 1 });
    expect(result?.findings).toHaveLength(1);
  },
  PATIENCE,
);

test('a large number in a fuzzing grammar does not turn a short input into a huge list', () => {
  const random = createRandom(1);
  const input = Buffer.from('{"aud":["a","b"],"scopes":[["c"]]}');
  const lengths = Array.from({ length: 2000 }, () => changedJson(input, random, ['70000']).length);
  expect(Math.max(...lengths)).toBeLessThan(3 * input.length);
});
