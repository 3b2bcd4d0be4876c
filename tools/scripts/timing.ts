// `npm run timing` compares two requests that are rejected with the same words. It measures how
// much longer one of them takes, and prints the tables of docs/assurance.md. `--plant <name>`
// measures one row with a fault in the code. It runs in a separate process, because modules that
// are loaded stay loaded.
import { spawnSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { FAULTS, plant, type Fault } from '../../test/support/timing/faults.ts';
import type { Measured } from '../../test/support/timing/runs.ts';

const { values } = parseArgs({
  options: {
    plant: { type: 'string' },
    row: { type: 'string', default: '' },
    milliseconds: { type: 'string', default: '5000' },
    precision: { type: 'string', default: '400' },
    http: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '1' },
    ledger: { type: 'boolean', default: false },
    'until-beyond': { type: 'boolean', default: false },
  },
});
const options = {
  pairs: Number(values.pairs),
  rounds: Number(values.rounds),
  during: Number(values.milliseconds),
  precision: Number(values.precision),
  overHttp: values.http,
  untilBeyond: values['until-beyond'],
};

if (values.plant === undefined) await printTables();
else process.stdout.write(JSON.stringify(await planted(values.plant)));

/** Measures with one planted fault. */
async function planted(name: string): Promise<unknown> {
  const fault = FAULTS.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`No fault is called ${name}`);
  const made = plant(fault);
  // Load the rows only after planting the fault.
  const { ROWS } = await import('../../test/support/timing/rows.ts');
  const row = ROWS.find((each) => isOf(fault, each));
  if (row === undefined) throw new Error(`No row is called ${fault.row}`);
  let found: unknown;
  if (values.ledger) {
    const { workOf } = await import('../../test/support/timing/ledgers.ts');
    found = await workOf(row);
  } else {
    const { measureRow } = await import('../../test/support/timing/runs.ts');
    const hashing = fault.isHash === true ? 'argon2id' : 'none';
    found = await measureRow(row, { ...options, hashing });
  }
  if (made() !== fault.edits.length)
    throw new Error(`The code is no longer what the fault ${name} changes`);
  return found;
}

function isOf(
  { row, classes = '' }: Fault,
  { name, classes: [first] }: { name: string; classes: readonly string[] },
) {
  return name.startsWith(row) && first?.startsWith(classes) === true;
}

async function printTables(): Promise<void> {
  const { ROWS } = await import('../../test/support/timing/rows.ts');
  const { measureRow } = await import('../../test/support/timing/runs.ts');
  const load = loadavg()[0]?.toFixed(1);
  print(
    `Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, load ${load} before it began.\n\n`,
  );
  print(
    '| What | One | The other | Pairs | Takes | Difference, 99 % | Limit |\n| :-- | :-- | :-- | --: | --: | --: | --: |\n',
  );
  for (const row of ROWS.filter(({ name }) => name.startsWith(values.row))) {
    const found = await measureRow(row, options);
    const cells = [
      row.name,
      ...row.classes,
      found.pairs.toLocaleString('en'),
      micro(found.takes, 0),
      interval(found),
    ];
    print(
      `| ${[...cells, `${row.limit / 1000} µs${found.isBeyond ? ' **beyond**' : ''}`].join(' | ')} |\n`,
    );
  }
  if (values.row !== '' || values.http) return;
  print('\n| Planted | Seen in | Difference, 99 % |\n| :-- | :-- | --: |\n');
  for (const { name, row } of FAULTS.filter((each) => each.inTime !== 'no')) {
    const run = spawnSync(
      process.execPath,
      [import.meta.filename, '--plant', name, '--milliseconds', '4000'],
      { encoding: 'utf8' },
    );
    if (run.status !== 0) throw new Error(run.stderr);
    print(`| ${name} | ${row} | ${interval(JSON.parse(run.stdout) as Measured)} |\n`);
  }
}

function interval({ difference, margin }: Measured): string {
  return `${micro(difference)} ± ${micro(margin)}`;
}

function micro(nanoseconds: number, digits = 2): string {
  return `${(nanoseconds / 1000).toFixed(digits)} µs`.replace(/^-/, '−');
}

function print(text: string): void {
  process.stdout.write(text);
}
