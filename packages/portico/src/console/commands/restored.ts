import type { AddCommands } from '../../application/contracts.ts';
import { openServer } from '../open-server.ts';
import { requireYes, type Confirmation } from './confirm.ts';

export const addRestored: AddCommands = (program, context) => {
  program
    .command('oauth:restored')
    .description(
      'use after restoring a backup: end everything that people allowed and every token, because the backup does not know what ' +
        'was revoked or used after it was made',
    )
    .option('--yes', 'do not ask first')
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(async ({ yes = false, json = false }: Confirmation) => {
      const { access } = await openServer(context);
      await requireYes(context, 'Every authorization and every token will end, of all applications.', yes);
      const ended = await context.progress('Ending authorizations', (report) =>
        access.endAll({ by: 'console', report: (count) => report(`${count} ended`) }),
      );
      const { authorizations, clientTokens, requests, initialAccessTokens } = ended;
      if (json) {
        return context.printJson({
          authorizations,
          client_tokens: clientTokens,
          requests,
          initial_access_tokens: initialAccessTokens,
        });
      }
      context.print(
        `Ended ${authorizations} authorizations, ${clientTokens} tokens of clients themselves, ${requests} requests that waited for an ` +
          `answer, and ${initialAccessTokens} initial access tokens.`,
      );
      context.note(NEXT);
    });
};

const HELP = `
Run it before the first process serves the restored database. Clients, their secrets and redirect URIs, people and their subjects stay as the
backup has them. It works in batches; what was ended stays ended when the command is stopped, and run again, it ends the rest.`;

const NEXT =
  'Clients are as the backup has them: revoke again those that were revoked since, and replace again the secrets that were (oauth:client:revoke, ' +
  'oauth:client:rotate-secret). Erase the people again who were erased since (oauth:person:erase).';
