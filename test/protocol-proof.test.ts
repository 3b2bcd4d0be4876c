// @engines sqlite, needs python: Maude searches the model without a database; `npm run proof:fetch` downloads Maude
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALONE, ATTACKS, CHECKS, COMPLETED, PROVED, RESIDUAL } from '../tools/proof/checks.ts';
import { search, type Finding, type Search } from '../tools/proof/maude.ts';

/**
 * The protocol against an attacker who reads, keeps, composes and replays messages, in every state
 * of a bounded model (tools/proof/README.md).
 */

const ROOT = path.join(import.meta.dirname, '..');

/** All rules that were on a path to a state that a search found. */
const used = new Set<string>();

async function searched(wanted: Search): Promise<Finding> {
  const finding = await search(wanted);
  for (const step of finding.steps) used.add(step);
  return finding;
}

async function moduleOf(name: string): Promise<string> {
  return readFile(path.join(ROOT, 'tools', 'proof', `${name}.maude`), 'utf8');
}

/** Returns the names that a module declares with `op` or `ops` for this sort. */
function declared(module: string, sort: string): readonly string[] {
  const names = new RegExp(String.raw`\bops? ([^:.]+) : [^.:]*-> ${sort} \.`, 'g');
  return [...module.matchAll(names)].flatMap(([, found = '']) => found.trim().split(/\s+/));
}

describe('in the model, each honest flow completes:', () => {
  test.each(COMPLETED)('$flow', async ({ scenario, reached }) => {
    const { found } = await searched({ scenario, removed: [], goal: { reached } });
    expect(found).toBe(true);
  });
});

describe('in the model with every check, no state violates a property:', () => {
  test.each(PROVED)('$scenario', async ({ scenario, properties }) => {
    const { steps, found, states } = await searched({
      scenario,
      removed: [],
      goal: { broken: properties },
    });
    process.stdout.write(`${scenario}: ${states} states\n`);
    expect(found, steps.join(', ')).toBe(false);
  });
});

describe('in the model without a check, the attack is found:', () => {
  test.each(ATTACKS)('$removed: $attack', async ({ removed, violates, scenario, move }) => {
    const { steps } = await searched({ scenario, removed, goal: { broken: [violates] } });
    expect(steps).toContain(move);
  });
});

describe('in the model, one of two checks against the same attack is sufficient:', () => {
  test.each(ALONE)('without $removed, $scenario', async ({ removed, violates, scenario }) => {
    const { steps, found } = await searched({ scenario, removed, goal: { broken: [violates] } });
    expect(found, steps.join(', ')).toBe(false);
  });
});

describe('in the model with every check, a remaining risk is found:', () => {
  test.each(RESIDUAL)('$risk', async ({ scenario, violates }) => {
    const { found } = await searched({ scenario, removed: [], goal: { broken: [violates] } });
    expect(found).toBe(true);
  });
});

describe('the list of checks of the model', () => {
  test('has an attack for each check', async () => {
    const checks = declared(await moduleOf('terms'), 'Check');
    expect(new Set(Object.keys(CHECKS))).toEqual(new Set(checks));
    expect(new Set(ATTACKS.flatMap(({ removed }) => removed))).toEqual(new Set(checks));
  });

  test('is exactly the list of checks that the model uses', async () => {
    const protocol = await moduleOf('protocol');
    const made = new Set([...protocol.matchAll(/\bhas\((\w+)\)/g)].map(([, check]) => check));
    expect(made).toEqual(new Set(Object.keys(CHECKS)));
  });

  test('has an attack on every property, and a scenario in which the property holds', async () => {
    const properties = new Set(declared(await moduleOf('properties'), 'Property'));
    expect(new Set(ATTACKS.map(({ violates }) => violates))).toEqual(properties);
    expect(new Set(PROVED.flatMap(({ properties: held }) => held))).toEqual(properties);
  });

  test('proves the property of each attack in its scenario, with every check', () => {
    const isProved = ({ violates, scenario }: (typeof ATTACKS)[number]) =>
      PROVED.some(
        (each) => each.properties.includes(violates) && isWithin(scenario, each.scenario),
      );
    expect(ATTACKS.filter((each) => !isProved(each))).toEqual([]);
  });

  test('has for every check a rule that other tests show', async () => {
    const files = globSync(['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: ROOT });
    const shown = new Set<string>();
    for (const file of files) {
      const text = await readFile(path.join(ROOT, file), 'utf8');
      for (const [, rules = ''] of text.matchAll(/@shows ([^\n*]+)/g))
        for (const [rule] of rules.matchAll(/[A-Z]+\d*-[\d.]+[a-z]?/g)) shown.add(rule);
    }
    expect(Object.values(CHECKS).filter(({ rule }) => !shown.has(rule))).toEqual([]);
  });

  test.each(Object.entries(CHECKS))('points to the code of %s', async (_, { file, name }) => {
    expect(await readFile(path.join(ROOT, file), 'utf8')).toContain(name);
  });
});

test('the search finds a path through every rule of the model', async () => {
  const rules = [...(await moduleOf('protocol')).matchAll(/c?rl \[([\w-]+)\]/g)];
  expect(used).toEqual(new Set(rules.map(([, label]) => label)));
});

/** Whether the second scenario is the first one with bounds that are at least as large. */
function isWithin(scenario: string, larger: string): boolean {
  const bounds = (text: string) => [...text.matchAll(/\b\d+\b/g)].map(Number);
  const shape = (text: string) => text.replaceAll(/\b\d+\b/g, 'N');
  const limits = bounds(larger);
  return (
    shape(scenario) === shape(larger) &&
    bounds(scenario).every((each, index) => each <= (limits[index] ?? 0))
  );
}
