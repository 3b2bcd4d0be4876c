import type { ConfigurationProblem, ConsoleContext } from '../../host/contracts.ts';
import type { Check } from '../finding.ts';

/** What an examination finds; an application that cannot start for its configuration is a finding too. */
export async function checksOf(examination: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await examination();
  } catch (error) {
    if (!(error instanceof Error) || !('problems' in error)) throw error;
    return (error.problems as readonly ConfigurationProblem[]).map(({ key, message }): Check => ({
      part: 'configuration',
      outcome: 'failing',
      detail: `${key}: ${message}`,
      remedy: 'correct the configuration; nothing else can be looked at before',
    }));
  }
}

/** A line for each check, and below it what to do. */
export function describeChecks(checks: readonly Check[]): readonly string[] {
  const width = Math.max(...checks.map(({ part }) => part.length));
  const indent = ' '.repeat(width + 11);
  return checks.flatMap(({ part, outcome, detail, remedy }) => [
    `${outcome.padEnd(7)}  ${part.padEnd(width)}  ${detail}`,
    ...(remedy === null ? [] : [`${indent}→ ${remedy}`]),
  ]);
}

/** Ends the command with 1 when a check failed. */
export function failOnFaults(context: ConsoleContext, checks: readonly Check[]): void {
  const faults = checks.filter(({ outcome }) => outcome === 'failing').length;
  if (faults > 0) context.fail(faults === 1 ? 'One check fails.' : `${faults} checks fail.`);
}
