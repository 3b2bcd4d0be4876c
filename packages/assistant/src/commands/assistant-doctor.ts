import type { AddCommands, Check } from 'portico';
import { configurationChecks, failing, printReport } from 'portico/extension';
import { examineAssistant } from '../doctor.ts';

export const addAssistantDoctor: AddCommands = (program, context) => {
  program
    .command('assistant:doctor')
    .description('show what is wrong with the voice assistant here, and what to do')
    .option('--server-only', 'leave the listing out')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText(
      'after',
      '\nExits with 1 when a check fails. It starts no server, changes nothing, and does not look at what lies between ' +
        'the vendor and here: reachability, latency, hosted images, certification.',
    )
    .action(async ({ serverOnly = false, json = false }: { serverOnly?: boolean; json?: boolean }) => {
      const examination = async () => examineAssistant(await context.application(), { serverOnly });
      const { checks } = await examination().catch((error: unknown) => {
        const problems = configurationChecks(error);
        if (problems !== null) return { checks: problems };
        if (!json) throw error;
        // With --json, standard output is always JSON. The stack goes to standard error.
        context.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return { checks: [notStarted(error)] };
      });
      printReport(context, { checks }, { json });
    });
};

function notStarted(error: unknown): Check {
  return {
    part: 'application',
    ...failing(
      error instanceof Error ? error.message : String(error),
      'fix what keeps the application from starting; the doctor can check nothing else before',
    ),
  };
}
