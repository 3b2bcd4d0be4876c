// @engines all, long: it replays long behaviors of the model
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStage, type Stage } from './support/model/playing.ts';
import type { Trace } from './support/model/trace.ts';
import { createClock } from './support/clock.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

/**
 * Replays behaviors of tools/model/Grants.tla on two servers, statement by statement. After each
 * statement, every request must be at the same point as in the model and have the same response,
 * and the same tokens must be valid.
 */
const TRACES = JSON.parse(
  await readFile(path.join(import.meta.dirname, '..', 'tools', 'model', 'traces.json'), 'utf8'),
) as readonly Trace[];

/** In seconds. It is shorter than the time for which the server stores an undelivered response. */
const WINDOW = 60;

describe.each([
  ['without a window for refreshing again', false],
  ['with a window', true],
])('two servers behave like the model %s:', (_, window) => {
  let portal: RunningPortal;
  let stage: Stage;

  beforeAll(async () => {
    const clock = createClock();
    const config = { oauth_server: window ? { refresh_retry_seconds: WINDOW } : {} };
    // A revoked client cannot authenticate. With this random number, the server delays no request
    // because of that.
    portal = await startPortal({ clock: clock.now, config, random: () => 0 });
    stage = await startStage({ portal, clock, window: WINDOW });
  });
  afterAll(async () => {
    await stage.close();
    await portal.close();
  });

  // @shows AS-5.4, AS-5.5, AS-10.1, AS-18.1, AS-18.2, AS-18.9
  test('every step has the same response and the same valid tokens', async () => {
    const traces = TRACES.filter((trace) => trace.window === window);
    for (const trace of traces) {
      const difference = await stage.play(trace);
      expect(difference, JSON.stringify(trace)).toBeNull();
    }
    const steps = traces.reduce((sum, trace) => sum + trace.steps.length, 0);
    process.stdout.write(`${traces.length} behaviours of the model, ${steps} steps\n`);
    expect(steps).toBeGreaterThan(100);
  });
});

test('the traces of the model contain every kind of step', async () => {
  const module = await readFile(
    path.join(import.meta.dirname, '..', 'tools', 'model', 'Traces.tla'),
    'utf8',
  );
  const kinds = [...module.matchAll(/Log\("([^"]+)"/g)].map(([, kind]) => kind);
  const does = new Set(TRACES.flatMap(({ steps }) => steps.map((step) => step.does)));
  expect(kinds.filter((kind) => !does.has(kind ?? ''))).toEqual([]);
});
