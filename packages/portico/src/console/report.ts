import path from 'node:path';
import { isConfigurationError } from '@portico/sql';
import type { ConsoleContext } from '../application/console-context.ts';
import { isHealthy, type Check } from './checks.ts';
import type { OpenRotation } from './doctor.ts';
import { findSection } from './sections.ts';

/**
 * Returns the checks if the application cannot start because of its configuration or a message
 * file. A message file's problem has the file's path instead of a key. Returns null for other
 * errors.
 */
export function configurationChecks(error: unknown): readonly Check[] | null {
  if (!isConfigurationError(error)) return null;
  return error.problems.map(({ key, message }): Check => {
    const found = { outcome: 'failing', detail: `${key}: ${message}` } as const;
    const again = 'then run the command again to see the other checks';
    return path.isAbsolute(key)
      ? { part: 'messages', ...found, remedy: `correct the file, ${again}` }
      : { part: 'configuration', ...found, remedy: `correct the configuration, ${again}` };
  });
}

/**
 * Prints the doctor's report as JSON, or as text followed by `lines`. If a check fails, the command
 * ends with exit code 1.
 */
export function printReport(
  context: ConsoleContext,
  report: { readonly checks: readonly Check[]; readonly open_rotations?: readonly OpenRotation[] },
  { json, lines = [] }: { readonly json: boolean; readonly lines?: readonly string[] },
): void {
  const { checks } = report;
  if (json) context.printJson({ healthy: isHealthy(checks), ...report });
  else context.print([...describeChecks(checks), ...lines, ...closing(checks)].join('\n'));
  const faults = checks.filter(({ outcome }) => outcome === 'failing').length;
  if (faults > 0) context.fail(faults === 1 ? 'One check fails.' : `${faults} checks fail.`);
}

/**
 * Returns the last line of the report, with the number of warnings. If a check fails, the command
 * reports it when it ends, so there is no line.
 */
function closing(checks: readonly Check[]): readonly string[] {
  if (!isHealthy(checks)) return [];
  const warnings = checks.filter(({ outcome }) => outcome === 'warning').length;
  if (warnings === 0) return ['No check fails.'];
  return [`No check fails. Warnings: ${warnings}.`];
}

/** Formats each check as a line, with what to do and a link to more information. */
function describeChecks(checks: readonly Check[]): readonly string[] {
  const width = Math.max(...checks.map(({ part }) => part.length));
  const indent = ' '.repeat(width + 11);
  return checks.flatMap(({ part, outcome, detail, remedy }) => {
    const section = outcome === 'failing' || outcome === 'warning' ? findSection(part) : null;
    return [
      `${outcome.padEnd(7)}  ${part.padEnd(width)}  ${detail}`,
      ...(remedy === null ? [] : [`${indent}→ ${remedy}`]),
      ...(section === null ? [] : [`${indent}  ${section}`]),
    ];
  });
}
