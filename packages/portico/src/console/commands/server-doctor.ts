import type { AddCommands } from '../../application/console-context.ts';
import { examine, type OpenRotation } from '../doctor.ts';
import { quoted } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { configurationChecks, printReport } from '../report.ts';

export const addServerDoctor: AddCommands = (program, context) => {
  program
    .command('oauth:server:doctor')
    .description('check the authorization server and show how to fix each problem')
    .option(
      '--online',
      'also check the public address: the issuer, the key set, and what the proxies forward',
    )
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', '\nThe exit status is 1 if a check fails. The command changes nothing.')
    .action(async ({ online = false, json = false }: { online?: boolean; json?: boolean }) => {
      const examination = async () => {
        const application = await context.application();
        return examine(application, await openServer(context), { online });
      };
      const { checks, open_rotations } = await examination().catch((error: unknown) => {
        const problems = configurationChecks(error);
        if (problems === null) throw error;
        return { checks: problems, open_rotations: [] };
      });
      printReport(
        context,
        { checks, open_rotations },
        { json, lines: open_rotations.map(describeRotation) },
      );
    });
};

function describeRotation(rotation: OpenRotation): string {
  const { client_id: id, client_name: name, previous_secret_expires_at: until } = rotation;
  const deadline = new Date(until * 1000).toISOString();
  return (
    `open     secret rotation     ${quoted(name)} (${id}): the previous secret is also accepted ` +
    `until ${deadline}`
  );
}
