// @engines sqlite, long: it measures the time of this process, and not that of a database server
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { FAULTS, type Fault } from './support/timing/faults.ts';
import { isImported, ROWS } from './support/timing/rows.ts';
import { measureIn, type Measured } from './support/timing/runs.ts';
import { startWorld, type World } from './support/timing/world.ts';

/**
 * `npm run timing` measures long enough to see a microsecond. This test is shorter, and tolerates
 * other load: it fails only if the 99 % interval of the difference is beyond the limit three times,
 * each time with twice as many pairs (decision 66).
 */

/** For as long as it takes to see it, which is at once unless the machine is busy. */
const UNTIL_SEEN = [
  '--pairs',
  '200',
  '--precision',
  '0',
  '--milliseconds',
  '300000',
  '--until-beyond',
];

async function find(fault: Fault, ...more: readonly string[]): Promise<unknown> {
  const script = path.join(ROOT, 'tools', 'scripts', 'timing.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    '--plant',
    fault.name,
    ...more,
  ]);
  return JSON.parse(stdout) as unknown;
}

describe('the response time does not reveal the difference:', () => {
  let taking: World;
  let other: World;
  beforeAll(async () => {
    taking = await startWorld({ hashing: 'none', takesImported: true });
    other = await startWorld({ hashing: 'none', takesImported: false });
  });
  afterAll(async () => {
    await taking.close();
    await other.close();
  });

  // @shows AS-9.3, AS-23.6, AS-41.4
  test.each(ROWS.map((row) => [row.name, ...row.classes, row] as const))(
    '%s: %s, or %s',
    async (_name, _one, _other, row) => {
      const found = await measureIn(isImported(row) ? taking : other, row, {
        pairs: 200,
        rounds: 3,
      });
      expect(found).toMatchObject({ isBeyond: false });
    },
  );
});

describe('the timing test finds a deliberate mistake', () => {
  test.each(FAULTS.filter(({ inCount = true }) => inCount))('by counting: $name', async (fault) => {
    expect(await find(fault, '--ledger')).not.toEqual([]);
  });

  test.each(FAULTS.filter(({ inTime }) => inTime === 'yes'))(
    'by measuring: $name',
    async (fault) => {
      const found = (await find(fault, ...UNTIL_SEEN)) as Measured;
      expect(found).toMatchObject({ isBeyond: true });
    },
  );
});
