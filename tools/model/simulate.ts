/**
 * `npm run model:simulate -- <seconds each>` checks random behaviours of models that are too large
 * to check completely.
 */
import { configOf, INVARIANTS, SIMULATED } from './bounds.ts';
import { runTlc } from './tlc.ts';

const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));

for (const [name, given] of Object.entries(SIMULATED)) {
  const { violated, lines } = await runTlc({
    module: 'Grants',
    config: [...configOf(given), 'SPECIFICATION Spec', `INVARIANTS ${INVARIANTS.join(' ')}`],
    options: ['-simulate', '-depth', '150', '-seed', String(seed)],
    workers: 1,
    seconds,
  });
  const checked =
    lines.findLast((line) => line.startsWith('Progress: '))?.slice('Progress: '.length) ??
    'few states checked';
  process.stdout.write(
    `${name}, seed ${seed}, ${seconds} s: ${checked} ${violated ?? 'No invariant is violated.'}\n`,
  );
  if (violated === null) continue;
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = 1;
}
