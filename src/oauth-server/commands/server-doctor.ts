import type { AddCommands, ConfigurationProblem } from '../../host/contracts.ts';
import { authorizationServerOf } from '../authorization-server-of.ts';
import { examine, type Check, type DoctorReport } from '../doctor.ts';

export const addServerDoctor: AddCommands = (program, context) => {
  program
    .command('oauth:server:doctor')
    .description('say which part of the authorization server is failing, and what to do')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText('after', '\nExits with 1 when a part is failing. It changes nothing.')
    .action(async (options: { json?: boolean }) => {
      const report = await reportOf(async () => {
        const application = await context.application();
        return examine(application, authorizationServerOf(application));
      });
      if (options.json === true) context.printJson(report);
      else context.print(describe(report).join('\n'));
      const faults = report.checks.filter(({ outcome }) => outcome === 'failing').length;
      if (faults > 0) {
        context.fail(faults === 1 ? 'One part is failing.' : `${faults} parts are failing.`);
      }
    });
};

/** An application that cannot start for its configuration is a finding too. */
async function reportOf(examination: () => Promise<DoctorReport>): Promise<DoctorReport> {
  try {
    return await examination();
  } catch (error) {
    if (!(error instanceof Error) || !('problems' in error)) throw error;
    const checks = (error.problems as readonly ConfigurationProblem[]).map(({ key, message }): Check => ({
      part: 'configuration',
      outcome: 'failing',
      detail: `${key}: ${message}`,
      remedy: 'correct the configuration; nothing else can be looked at before',
    }));
    return { healthy: false, checks, open_rotations: [] };
  }
}

function describe({ checks, open_rotations: rotations }: DoctorReport): readonly string[] {
  const width = Math.max(...checks.map(({ part }) => part.length));
  const indent = ' '.repeat(width + 11);
  const lines = checks.flatMap(({ part, outcome, detail, remedy }) => [
    `${outcome.padEnd(7)}  ${part.padEnd(width)}  ${detail}`,
    ...(remedy === null ? [] : [`${indent}→ ${remedy}`]),
  ]);
  const open = rotations.map(({ client_id: id, client_name: name, previous_secret_expires_at: until }) => {
    const deadline = new Date(until * 1000).toISOString();
    return `open     ${'rotation'.padEnd(width)}  ${name} (${id}): the previous secret is accepted until ${deadline}`;
  });
  return [...lines, ...open];
}
