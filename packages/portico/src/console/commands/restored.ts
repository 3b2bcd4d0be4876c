import type { AddCommands } from '../../application/console-context.ts';
import { openServer } from '../open-server.ts';
import { requireYes, type Confirmation } from './confirm.ts';

export const addRestored: AddCommands = (program, context) => {
  program
    .command('oauth:restored')
    .description(
      'run this after you restore a backup. It ends all authorizations and tokens, because ' +
        'the backup does not show which of them were revoked or used later',
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(async ({ yes = false, json = false }: Confirmation) => {
      const { access } = await openServer(context);
      await requireYes(
        context,
        'This command ends all authorizations and all tokens of all applications.',
        yes,
      );
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
        `Ended ${authorizations} authorizations, ${clientTokens} client_credentials tokens, ` +
          `${requests} open consent requests ` +
          `and ${initialAccessTokens} initial access tokens.`,
      );
      context.note(NEXT);
    });
};

const HELP = `
Run this before any process uses the restored database. Clients, their secrets and redirect URIs, people and their subjects stay as
they are in the backup. If the command is interrupted, run it again.`;

const NEXT =
  'Clients and people are as they were when the backup was made. Repeat what you did since ' +
  'then: revoke clients (oauth:client:revoke), rotate secrets (oauth:client:rotate-secret) ' +
  'and erase people (oauth:person:erase).';
