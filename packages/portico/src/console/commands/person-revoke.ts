import type { AddCommands } from '../../application/console-context.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addPersonRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:person:revoke')
    .description(
      'revoke everything that a person allowed: tokens and codes are refused from now on, ' +
        'and open consent requests can no longer be answered. The person can allow ' +
        'applications again',
    )
    .argument('<provider>', 'the account provider, as oauth:authorization:list prints it')
    .argument('<id>', "the person's id at this provider; must match exactly")
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', AGAIN)
    .action(async (provider: string, id: string, options: { json?: boolean }) => {
      const { access } = await openServer(context);
      const { authorizations, requests } = await context.progress(
        'Ending authorizations',
        (report) =>
          orFail(
            context,
            access.revokePerson(
              { provider, id },
              { by: 'console', report: (count) => report(`${count} ended`) },
            ),
          ),
      );
      if (options.json === true)
        return context.printJson({ person: { provider, id }, authorizations, requests });
      context.print(
        authorizations === 0 && requests === 0
          ? `${quotedPublic(provider)} ${quotedPublic(id)} had no access to revoke.`
          : `Ended ${authorizations} authorizations of ${quotedPublic(provider)} ` +
              `${quotedPublic(id)}, and ${requests} open consent requests.`,
      );
    });
};

const AGAIN = '\nIf you stop the command before it has finished, run it again to revoke the rest.';
