import type { AddCommands } from '../../application/contracts.ts';
import { openServer } from '../open-server.ts';
import type { PrunedRows } from '../../store/pruning.ts';

export const addPrune: AddCommands = (program, context) => {
  program
    .command('oauth:prune')
    .description(
      'remove expired rows, in small batches; safe while serving (the server does the same now and then)',
    )
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (options: { json?: boolean }) => {
      const server = await openServer(context);
      const { families, accessTokens, consentRequests, clients, auditEvents } = await context.progress(
        'Removing expired rows',
        (report) => server.prune((removed) => report(describe(removed))),
      );
      if (options.json === true) {
        return context.printJson({
          families,
          access_tokens: accessTokens,
          consent_requests: consentRequests,
          clients,
          ...(auditEvents === undefined ? {} : { audit_events: auditEvents }),
        });
      }
      context.print(
        `Removed ${families} authorizations, ${accessTokens} access tokens and ${consentRequests} consent requests.`,
      );
      if (clients > 0) context.print(`Removed ${clients} unused clients that no operator registered.`);
      if (auditEvents !== undefined)
        context.print(
          `Removed ${auditEvents} audit events that are older than oauth_server:audit:retention_days.`,
        );
    });
};

function describe({ families, accessTokens, consentRequests, clients, auditEvents }: PrunedRows): string {
  const events = auditEvents === undefined ? '' : `, ${auditEvents} audit events`;
  return `${families} authorizations, ${accessTokens} access tokens, ${consentRequests} consent requests, ${clients} clients${events}`;
}
