// The findings of the tests, in a file of Stryker's copy. There is one line for each finding. The
// tests write the file, and Stryker's runner reads it.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const FILE = process.env['MUTATION_FINDINGS'] ?? 'mutation-findings.jsonl';

/**
 * Mutants and tests have Stryker's ids. `cost` is the computing time of one run of the test, in
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
