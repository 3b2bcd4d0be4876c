import type { AddCommands } from '../../host/contracts.ts';
import { authorizationServerOf } from '../authorization-server-of.ts';
import { examine, type OpenRotation } from '../doctor.ts';
import { checksOf, describeChecks, failOnFaults } from './doctor-report.ts';

export const addServerDoctor: AddCommands = (program, context) => {
  program
    .command('oauth:server:doctor')
    .description('say which part of the authorization server is failing, and what to do')
    .option(
      '--online',
      'ask the public address too: issuer, key set, and what of a request comes through the proxies',
    )
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText('after', '\nExits with 1 when a part is failing. It changes nothing.')
    .action(async (options: { json?: boolean; online?: boolean }) => {
      const rotations: OpenRotation[] = [];
      const checks = await checksOf(async () => {
        const application = await context.application();
        const report = await examine(application, authorizationServerOf(application), {
          online: options.online === true,
        });
        rotations.push(...report.open_rotations);
        return report.checks;
      });
      const healthy = checks.every(({ outcome }) => outcome !== 'failing');
      if (options.json === true) context.printJson({ healthy, checks, open_rotations: rotations });
      else context.print([...describeChecks(checks), ...rotations.map(describeRotation)].join('\n'));
      failOnFaults(context, checks);
    });
};

function describeRotation(rotation: OpenRotation): string {
  const { client_id: id, client_name: name, previous_secret_expires_at: until } = rotation;
  const deadline = new Date(until * 1000).toISOString();
  return `open     rotation            ${name} (${id}): the previous secret is accepted until ${deadline}`;
}
