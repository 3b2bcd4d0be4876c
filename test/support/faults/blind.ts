/**
 * For practice in finding faults. Run `node test/support/faults/blind.ts [sqlite|postgres] [seed]`
 * after `npm run build`. It starts an installation under a small load, and causes one of the faults
 * in `faults.ts` without naming it. Ctrl+C ends it and prints the fault.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { POSTGRES } from '../engines/database-server.ts';
import { createRandom } from '../random.ts';
import { FAULTS, type Fault, type FaultName } from './faults.ts';
import { FOLDER, startOperated } from './installation.ts';
import { startLoad } from './load.ts';

const [engine = 'sqlite', given] = process.argv.slice(2);
const seed = Number(given ?? Date.now() % 100_000);
const other = engine === 'sqlite' ? 'PostgreSQL' : 'SQLite';
const names = (Object.keys(FAULTS) as FaultName[]).filter((name) => FAULTS[name].store !== other);
const name = names[Math.floor(createRandom(seed)() * names.length)] ?? 'replay';
const fault: Fault = FAULTS[name];

const server = engine === 'postgres' ? await POSTGRES.start() : null;
const installation = await startOperated(server?.url);
const log = path.join(await mkdtemp(path.join(tmpdir(), 'portico-blind-')), 'log');
installation.process.process.stdout?.pipe(createWriteStream(log));
const load = await startLoad(installation);

const environment = Object.entries(installation.env).map(([key, value]) => `${key}='${value}'`);
const stopped = once(process, 'SIGINT');
process.stdout.write(`public address  ${installation.url}
metrics         ${installation.metricsUrl}
log             ${log}
console         cd ${FOLDER} && ${environment.join(' ')} npx portico oauth:server:doctor --online
seed            ${seed}
It works as it should for ten seconds from now; then something breaks. Begin with docs/troubleshooting.md.
`);

const asked = { toEnd: false };
void stopped.then(() => (asked.toEnd = true));
/** Runs two rounds per second. */
async function rounds(count: number, also?: Fault['round']): Promise<void> {
  for (let done = 0; done < count && !asked.toEnd; done += 1) {
    await Promise.all([load.round().then(() => also?.(load)), setTimeout(500)]);
    // Guess sometimes, because every public server has visitors who guess.
    if (done % 10 === 0) await load.guess();
  }
}
await rounds(20);
if (!asked.toEnd) await fault.inject(installation, load);
await rounds(Number.POSITIVE_INFINITY, fault.round?.bind(fault));
process.stdout.write(`\nIt was: ${name}\n`);
await installation.close();
await server?.close();
