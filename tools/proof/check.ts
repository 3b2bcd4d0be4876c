/**
 * `npm run proof` searches the model of the protocol for attacks. With every check, it must find
 * none. Without the checks of each row, it must find the attack that the row names. `-- --larger`
 * also searches larger bounds.
 */
import { ALONE, ATTACKS, COMPLETED, LARGER, PROVED, RESIDUAL } from './checks.ts';
import { search, type Finding, type Search } from './maude.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

async function expect(what: string, wanted: Search, isFound: boolean): Promise<void> {
  const finding = await search(wanted);
  const isRight = finding.found === isFound;
  say(`${isRight ? 'ok' : 'WRONG'}: ${what}: ${describe(finding)}`);
  if (!isRight) process.exitCode = 1;
}

function describe({ found, steps, states, seconds }: Finding): string {
  const result = found ? `found, ${steps.join(', ')}` : 'no such state';
  return `${result} (${states} states, ${seconds.toFixed(1)} s)`;
}

for (const { flow, scenario, reached } of COMPLETED)
  await expect(`completes: ${flow}`, { scenario, removed: [], goal: { reached } }, true);
for (const { removed, attack, violates, scenario } of ATTACKS) {
  const goal = { broken: [violates] };
  await expect(`without ${removed.join(' and ')}: ${attack}`, { scenario, removed, goal }, true);
}
for (const { removed, violates, scenario } of ALONE) {
  const goal = { broken: [violates] };
  await expect(`without ${removed.join()} alone, ${scenario}`, { scenario, removed, goal }, false);
}
for (const { risk, violates, scenario } of RESIDUAL)
  await expect(`remains: ${risk}`, { scenario, removed: [], goal: { broken: [violates] } }, true);
const proved = process.argv.includes('--larger') ? [...PROVED, ...LARGER] : PROVED;
for (const { scenario, properties } of proved)
  await expect(
    `${scenario}: ${properties.join(', ')}`,
    { scenario, removed: [], goal: { broken: properties } },
    false,
  );
