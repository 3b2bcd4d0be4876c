import type { AddCommands } from '../../application/console-context.ts';
import { openServer } from '../open-server.ts';
import type { ExpiringRows, PrunedRows } from '../../store/pruning.ts';

export const addPrune: AddCommands = (program, context) => {
  program
    .command('oauth:prune')
    .description('remove expired rows in small batches; a running server also does this regularly')
    .option('--json', 'print only JSON to standard output')
    .action(async (options: { json?: boolean }) => {
      const server = await openServer(context);
      const { expiring } = server;
      const removed = await context.progress('Removing expired rows', (report) =>
        server.prune((until) => report(describe(until, expiring))),
      );
      const { families, accessTokens, consentRequests, clients } = removed;
      if (options.json === true) {
        return context.printJson({
          families,
          access_tokens: accessTokens,
          consent_requests: consentRequests,
          clients,
          ...Object.fromEntries(
            expiring.map(({ kind, called }) => [called.replaceAll(' ', '_'), removed[kind]]),
          ),
        });
      }
      context.print(
        `Removed ${families} authorizations, ${accessTokens} access tokens and ` +
          `${consentRequests} consent requests.`,
      );
      if (clients > 0)
        context.print(`Removed ${clients} unused clients that no operator registered.`);
      for (const { kind, called, which } of expiring)
        context.print(`Removed ${removed[kind]} ${called} that ${which}.`);
    });
};

function describe(removed: PrunedRows, expiring: readonly ExpiringRows[]): string {
  const { families, accessTokens, consentRequests, clients } = removed;
  const others = expiring.map(({ kind, called }) => `, ${removed[kind]} ${called}`).join('');
  return (
    `${families} authorizations, ${accessTokens} access tokens, ${consentRequests} consent ` +
    `requests, ${clients} clients${others}`
  );
}
