// node bench/dist/one.js <target> [work] [connections] [seconds]
//
// Runs a single target, so that you can examine one thing. DATABASE=<url> sets the database.
// PROFILE=<folder> sets the folder for a profile of its processor time.
import { measure } from './measure.ts';
import { Bench } from './server.ts';
import { warmUp } from './warm.ts';
import { WORKS } from './works.ts';

const [name = 'portico', only = '', connections = '10', seconds = '3'] = process.argv.slice(2);
const bench = await Bench.seed(name, process.env['DATABASE'] ?? null);
const profile = process.env['PROFILE'];
const running = await bench.start({
  nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
});
try {
  process.stdout.write(`started in ${running.startedIn.toFixed(0)} ms\n`);
  await warmUp(bench);
  for (const work of WORKS) {
    if (!work.name.includes(only) || !work.applies(bench.seeded)) continue;
    const { perSecond, p50, p99, slowest } = await measure(
      bench.port,
      (connection) => work.prepare(bench.seeded, connection),
      {
        connections: Number(connections),
        warmUp: 1,
        seconds: Number(seconds),
      },
    );
    const figures = [p50, p99, slowest].map((value) => value.toFixed(1)).join(' / ');
    process.stdout.write(
      `${work.name.padEnd(26)} ${perSecond.toFixed(0).padStart(6)}/s  ${figures} ms  ${running.memory().now.toFixed(0)} MiB\n`,
    );
  }
  process.stdout.write(`peak ${running.memory().peak.toFixed(0)} MiB\n`);
} finally {
  await running.stop();
  await bench.remove();
}
