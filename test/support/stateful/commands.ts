import fc from 'fast-check';
import { intent, type Intent } from './intents.ts';
import { plan } from './plans.ts';
import type { Model, Real } from './playing.ts';

/** One step of a run. */
class Step implements fc.AsyncCommand<Model, Real> {
  readonly intent: Intent;
  constructor(intended: Intent) {
    this.intent = intended;
  }

  check(model: Readonly<Model>): boolean {
    return plan(model, this.intent) !== null;
  }

  async run(model: Model, real: Real): Promise<void> {
    const planned = plan(model, this.intent);
    if (planned === null) throw new Error('What could be done cannot be done any more');
    real.counts.commands += 1;
    await planned(model, real);
  }

  toString(): string {
    return this.intent.does;
  }
}

/** Returns the commands of a run. `replayPath` comes from a failed run. */
export function commands(
  longest: number,
  replayPath?: string,
): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Real>>> {
  return fc.commands([intent.map((intended) => new Step(intended))], {
    maxCommands: longest,
    size: 'max',
    ...(replayPath === undefined ? {} : { replayPath }),
  });
}
