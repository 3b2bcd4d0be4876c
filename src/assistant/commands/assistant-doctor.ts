import type { AddCommands } from '../../host/contracts.ts';
import { checksOf, describeChecks, failOnFaults, type Check } from '../../oauth-server/index.ts';
import { examineAssistant } from '../doctor.ts';

export const addAssistantDoctor: AddCommands = (program, context) => {
  program
    .command('assistant:doctor')
    .description('say what of the voice assistant is failing here, and what to do')
    .option('--server-only', 'leave the listing out')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText(
      'after',
      '\nExits with 1 when a check fails. It starts no server, changes nothing, and does not look at what lies between ' +
        'the vendor and here: reachability, latency, hosted images, certification.',
    )
    .action(async (options: { serverOnly?: boolean; json?: boolean }) => {
      const json = options.json === true;
      const checks = await checksOf(async () => {
        const application = await context.application();
        return (await examineAssistant(application, { serverOnly: options.serverOnly === true })).checks;
      }).catch((error: unknown) => {
        if (!json) throw error;
        // Who reads JSON reads JSON; the whole of it, with its place in the code, stands beside.
        context.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return [notStarted(error)];
      });
      const healthy = checks.every(({ outcome }) => outcome !== 'failing');
      if (json) context.printJson({ healthy, checks });
      else context.print(describeChecks(checks).join('\n'));
      failOnFaults(context, checks);
    });
};

function notStarted(error: unknown): Check {
  return {
    part: 'application',
    outcome: 'failing',
    detail: error instanceof Error ? error.message : String(error),
    remedy: 'mend what keeps the application from starting; nothing else can be looked at before',
  };
}
