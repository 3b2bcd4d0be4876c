// What the tests found, in a file of Stryker's copy: one line for each finding, written where the
// tests run, read where Stryker asks.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const FILE = process.env['MUTATION_FINDINGS'] ?? 'mutation-findings.jsonl';

/**
 * Mutants and tests by Stryker's ids; `cost` is the computing of one run of the test, in
 * milliseconds.
 */
export type Finding =
  | { readonly killed: string; readonly by: string; readonly why: string }
  | { readonly test: string; readonly withstood: readonly string[]; readonly cost: number }
  | { readonly test: string; readonly unfit: string };

export function findings(): readonly Finding[] {
  if (!existsSync(FILE)) return [];
  const lines = readFileSync(FILE, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Finding);
}

export function found(finding: Finding): void {
  appendFileSync(FILE, `${JSON.stringify(finding)}\n`);
}
