import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LONGEST, SCALE } from './support/scale.ts';
import { commands } from './support/stateful/commands.ts';
import { openEngine, type Engine } from './support/stateful/installation.ts';
import { createKnown } from './support/stateful/known.ts';
import { populate } from './support/stateful/plans.ts';
import { createCounts, createModel, type Counts } from './support/stateful/playing.ts';
import type { Settings } from './support/stateful/world.ts';

/**
 * Random runs of everything that applications, people and operators do, with a moving clock and a
 * failing store. The results are compared with the documents (docs/assurance.md, decision 62).
 */

/** The maximum number of commands in a run. */
const MOST_COMMANDS = 80;

/**
 * `STATEFUL='<seed>'` repeats the same runs. `STATEFUL='<seed>,<path>,<replay path>'` repeats the
 * failed run, whose message contains the values.
 */
const [SEED, PATH, REPLAY_PATH] = (process.env['STATEFUL'] ?? '').split(',');

/** The seed is the same between two edits and in CI. It is different each night. */
const SAME = 62;

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/**
 * Compares this many runs with the model, and returns the counts of what they contained. Throws an
 * error with the message of the shortest run that fails.
 */
async function holdAgainstModel(name: string, settings: Settings): Promise<Counts> {
  const counts = createCounts();
  const drawn = LONGEST ? Math.floor(Math.random() * 2 ** 31) : SAME;
  const seed = SEED === undefined || SEED === '' ? drawn : Number(SEED);
  const run = fc.asyncProperty(
    fc.scheduler(),
    commands(MOST_COMMANDS, REPLAY_PATH),
    async (scheduler, all) => {
      const installation = await engine.install(settings);
      try {
        await fc.asyncModelRun(async () => {
          const real = { known: createKnown(installation, settings), scheduler, counts };
          const model = createModel(settings);
          await populate(model, real);
          return { model, real };
        }, all);
      } finally {
        await installation.close();
      }
    },
  );
  const once = PATH === undefined ? {} : { path: PATH, endOnFailure: true };
  const { failed, ...details } = await fc.check(run, {
    seed,
    numRuns: SCALE.statefulRuns,
    unbiased: true,
    ...once,
  });
  process.stdout.write(
    `${details.numRuns} runs of "${name}", seed ${seed}: ${JSON.stringify(counts)}\n`,
  );
  if (!failed) return counts;
  const { counterexamplePath: path, counterexample, errorInstance, numShrinks } = details;
  const [, replay = ''] = /replayPath="([^"]*)"/.exec(fc.stringify(counterexample?.[1])) ?? [];
  const project = { sqlite: 'sqlite', postgres: 'postgres', mysql: 'mariadb' }[engine.dialect];
  const again = `STATEFUL='${seed},${path},${replay}' npx vitest run --project ${project} test/stateful.test.ts -t '${name}'`;
  throw new Error(
    `${errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance)}\n` +
      `Run ${details.numRuns} failed so, and was made shorter ${numShrinks} times. Again: ${again}`,
  );
}

describe.each<[string, Settings]>([
  ['lifetimes as usual', { code: 60, access: 3600, refresh: 2_592_000, consent: 600 }],
  [
    'an access token that outlives the refresh token',
    { code: 60, access: 20_000, refresh: 9000, consent: 600 },
  ],
  [
    'a window for refreshing again',
    { code: 60, access: 3600, refresh: 9000, consent: 600, retry: 30 },
  ],
])('the model of %s', (name, settings) => {
  // @shows AS-5.1, AS-5.2, AS-5.4, AS-5.5, AS-5.6, AS-5.7, AS-5.8, AS-5.9, AS-5.10, AS-5.11, AS-5.15, AS-5.16, AS-5.17, AS-5.18, AS-6.16, AS-8.7, AS-8.9, AS-9.6, AS-9.8, AS-10.1, AS-10.2, AS-10.3, AS-10.4, AS-10.5, AS-12.4, AS-18.1, AS-18.2, AS-18.3, AS-18.8, AS-18.9, AS-18.24, AS-22.7, AS-24.4, AS-30.3, AS-30.4, AS-30.5, AS-31.1, AS-31.5, AS-31.6, AS-31.8
  test('matches all responses and valid tokens, with random concurrent actions and store failures', async () => {
    const { together, faults, samples, answers } = await holdAgainstModel(name, settings);
    if (PATH !== undefined) return;
    const issued = answers['refresh: tokens'] ?? 0;
    expect(Math.min(together, faults, samples, issued)).toBeGreaterThan(0);
  });
});
