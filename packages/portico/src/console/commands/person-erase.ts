import type { AddCommands } from '../../application/console-context.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { requireYes, type Confirmation } from './confirm.ts';
import { orFail } from './or-fail.ts';

export const addPersonErase: AddCommands = (program, context) => {
  program
    .command('oauth:person:erase')
    .description(
      'remove everything stored about a person: authorizations, consent requests and the ' +
        'subject (sub). Applications then no longer recognize the person, and stored audit ' +
        'events show a pseudonym',
    )
    .argument('<provider>', 'the account provider, as oauth:authorization:list prints it')
    .argument('<id>', "the person's id at this provider; must match exactly")
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(async (provider: string, id: string, { yes = false, json = false }: Confirmation) => {
      const { access } = await openServer(context);
      const who = `${quotedPublic(provider)} ${quotedPublic(id)}`;
      await requireYes(
        context,
        `Everything stored about the person ${who} will be removed. You cannot undo this.`,
        yes,
      );
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
      if (json)
        return context.printJson({ authorizations, requests, subject, audit_events: events });
      context.print(
        `Removed ${authorizations} authorizations, ${requests} requests and ` +
          `${subject ? 'the' : 'no'} subject of the person ${who}; ` +
          `${events} stored audit events now show a pseudonym.`,
      );
    });
};

const HELP = `
This does not remove the account, which belongs to the application. If the person allows applications again, these applications
see a new person. To prevent this, remove or suspend the account first. Your own log and audit events are not changed.

If you stop the command before it has finished, run it again to remove the rest. If a request is answered while the command runs, it may write an
audit event afterwards. In that case, run the command again.`;
