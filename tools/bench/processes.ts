// DATABASE_URL=postgres://… node bench/dist/processes.js
//
// Measures Portico on PostgreSQL with one process, and with two processes on one database. The
// database server, the processes and the load all run on this machine.
import { createDatabase } from './database.ts';
import { measure } from './measure.ts';
import { Bench, freePort } from './server.ts';
import { WORKS } from './works.ts';

const server = process.env['DATABASE_URL'];
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server');
const MEASURED = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'refresh with ID token, RS256',
  'UserInfo',
];
const LOAD = { warmUp: 1, seconds: 4 };

const bench = await Bench.seed('portico', await createDatabase(server));
const ports = [bench.port, await freePort()];
const processes = [];
for (const port of ports) processes.push(await bench.start({ port, pinned: false }));
try {
  process.stdout.write('| work | one process | two processes | |\n| --- | --: | --: | --: |\n');
  for (const work of WORKS.filter(({ name }) => MEASURED.includes(name))) {
    const one = await perSecond(work, ports.slice(0, 1));
    const two = await perSecond(work, ports);
    process.stdout.write(
      `| ${work.name} | ${one.toFixed(0)} | ${two.toFixed(0)} | ${((two / one) * 100).toFixed(0)} % |\n`,
    );
  }
} finally {
  for (const running of processes) await running.stop();
  await bench.remove();
}

/** Measures with twenty connections, which are spread over the processes. */
async function perSecond(work: (typeof WORKS)[number], on: readonly number[]): Promise<number> {
  const measured = await Promise.all(
    on.map((port) =>
      measure(port, (connection) => work.prepare(bench.seeded, connection), {
        ...LOAD,
        connections: 20 / on.length,
      }),
    ),
  );
  return measured.reduce((sum, each) => sum + each.perSecond, 0);
}
