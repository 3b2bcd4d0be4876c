import type { AddCommands, Check } from 'portico';
import { configurationChecks, failing, printReport } from 'portico/extension';
import { DIRECTORY_NAMES, type DirectoryName } from '../directories.ts';
import { examineAssistant } from '../doctor.ts';

interface Options {
  readonly serverOnly?: boolean;
  readonly directory?: readonly DirectoryName[];
  readonly json?: boolean;
}

export const addAssistantDoctor: AddCommands = (program, context) => {
  program
    .command('assistant:doctor')
    .description('show what is wrong with the voice assistant here, and what to do')
    .option('--server-only', 'leave the listing out')
    .addOption(
      program
        .createOption('--directory <name...>', 'also say which tools this directory would refuse, and why')
        .choices(DIRECTORY_NAMES),
    )
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText(
      'after',
      '\nExits with 1 when a check fails. It starts no server, changes nothing, and does not look at what lies between ' +
        'the vendor and here: reachability, latency, hosted images, certification.',
    )
    .action(async ({ serverOnly = false, directory: directories = [], json = false }: Options) => {
      const examination = async () =>
        examineAssistant(await context.application(), { serverOnly, directories });
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
