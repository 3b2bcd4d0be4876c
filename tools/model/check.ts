/**
 * `npm run model` checks every state of the model within its bounds. It also checks that TLC finds
 * the error in each broken model.
 */
import { BROKEN, checkedOf, EXHAUSTIVE } from './bounds.ts';
import { runTlc } from './tlc.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

for (const [name, bounds] of Object.entries(EXHAUSTIVE)) {
  const { violated, steps, states, depth, seconds } = await runTlc({
    module: 'Grants',
    config: checkedOf(bounds),
  });
  say(
    `${name}: ${states} states, at most ${depth} steps deep, ${seconds.toFixed(1)} s: ${violated ?? 'every promise is kept'}`,
  );
  if (violated === null) continue;
  say(steps.join(', '));
  process.exitCode = 1;
}
for (const { fault, violates, bounds } of BROKEN) {
  const { violated, steps, seconds } = await runTlc({
    module: 'Grants',
    config: checkedOf(bounds),
    workers: 1,
  });
  say(`broken, ${fault}: ${violated ?? 'NOT FOUND'}, ${seconds.toFixed(1)} s: ${steps.join(', ')}`);
  if (violated !== violates) process.exitCode = 1;
}
