import type { AddCommands } from '../../../host/contracts.ts';
import { openServer } from '../open-server.ts';

export const addPrune: AddCommands = (program, context) => {
  program
    .command('oauth:prune')
    .description(
      'remove expired rows, in small batches; safe while serving (the server does the same now and then)',
    )
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (options: { json?: boolean }) => {
      const server = await openServer(context);
      const { families, accessTokens, consentRequests, clients } = await server.prune();
      if (options.json === true) {
        return context.printJson({
          families,
          access_tokens: accessTokens,
          consent_requests: consentRequests,
          clients,
        });
      }
      context.print(
        `Removed ${families} authorizations, ${accessTokens} access tokens and ${consentRequests} consent requests.`,
      );
      if (clients > 0)
        context.print(`Removed ${clients} clients that no operator registered, and nobody used.`);
    });
};
