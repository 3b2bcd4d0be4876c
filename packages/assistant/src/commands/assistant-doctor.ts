import { authorizationServerOf, type AddCommands, type Check } from 'portico';
import { configurationChecks, failing, printReport } from 'portico/extension';
import { DIRECTORY_NAMES, type DirectoryName } from '../directories.ts';
import { examineAssistant } from '../doctor.ts';

export const addAssistantDoctor: AddCommands = (program, context) => {
  program
    .command('assistant:doctor')
    .description('check the voice assistant and show how to fix each problem')
    .option('--server-only', 'skip the check of the directory listing (assistant:listing)')
    .addOption(
      program
        .createOption(
          '--directory <name...>',
          'also show which tools this directory would refuse, and why',
        )
        .choices(DIRECTORY_NAMES),
    )
    .option('--json', 'print only JSON to standard output')
    .addHelpText(
      'after',
      '\nThe exit status is 1 if a check fails. The command starts no server and changes ' +
        'nothing. It cannot check the hosted images, the certification, how fast the server ' +
        'responds, or whether the vendor can reach this server.',
    )
    .action(
      async ({
        serverOnly = false,
        directory: directories = [],
        json = false,
      }: {
        readonly serverOnly?: boolean;
        readonly directory?: readonly DirectoryName[];
        readonly json?: boolean;
      }) => {
        const examination = async () => {
          const application = await context.application();
          // Stop the outbox, because console commands do not deliver its messages.
          await authorizationServerOf(application).outbox.stop();
          return examineAssistant(application, { serverOnly, directories });
        };
        const { checks } = await examination().catch((error: unknown) => {
          const problems = configurationChecks(error);
          if (problems !== null) return { checks: problems };
          if (!json) throw error;
          // With `--json`, standard output must contain only JSON, so print the stack to standard
          // error.
          context.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
          return { checks: [notStarted(error)] };
        });
        printReport(context, { checks }, { json });
      },
    );
};

function notStarted(error: unknown): Check {
  return {
    part: 'application',
    ...failing(
      error instanceof Error ? error.message : String(error),
      'fix this error, so that the application can start. Then run this command again for ' +
        'the other checks',
    ),
  };
}
