import type { AddCommands } from '../../application/contracts.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { requireYes } from './confirm.ts';
import { orFail } from './or-fail.ts';

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const addPersonErase: AddCommands = (program, context) => {
  program
    .command('oauth:person:erase')
    .description(
      'remove all that is kept of a person: what they have allowed, the requests that were put to them, and their subject, so that ' +
        'applications know them no more; in the kept audit a pseudonym takes their place',
    )
    .argument('<provider>', 'the name of the account provider, as oauth:authorization:list prints it')
    .argument('<id>', 'the id of the person there, byte by byte')
    .option('--yes', 'do not ask first')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText('after', HELP)
    .action(async (provider: string, id: string, { yes = false, json = false }: Options) => {
      const { access } = await openServer(context);
      const who = `${quotedPublic(provider)} ${quotedPublic(id)}`;
      await requireYes(context, `All that is kept of the person ${who} will be removed, for good.`, yes);
      const erased = await context.progress('Removing authorizations', (report) =>
        orFail(
          context,
          access.erasePerson(
            { provider, id },
            { by: 'console', report: (count) => report(`${count} removed`) },
          ),
        ),
      );
      const { authorizations, requests, subject, events } = erased;
      if (json) return context.printJson({ authorizations, requests, subject, audit_events: events });
      context.print(
        `Removed ${authorizations} authorizations, ${requests} requests and ${subject ? 'the' : 'no'} subject of the person ${who}; ` +
          `${events} events of the kept audit have a pseudonym.`,
      );
    });
};

const HELP = `
The account is the application's: it stays, and can allow applications again, as a person they have never seen. Remove or suspend it first
if that is not meant, as with the application's own log and what it keeps of the audit events.

What was removed stays removed when the command is stopped; run again, it removes the rest. A request that is being answered meanwhile may
be audited after it: then run it again, too.`;
