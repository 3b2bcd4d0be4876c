import { readSpan } from '../spans.ts';
import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

interface AskedRotation {
  readonly overlap?: string;
  readonly now?: boolean;
  readonly json?: boolean;
}

export const addClientRotateSecret: AddCommands = (program, context) => {
  program
    .command('oauth:client:rotate-secret')
    .description('give an application a new secret; the previous secret stays valid for a while')
    .argument('<client_id>')
    .option(
      '--overlap <span>',
      'how long the previous secret stays valid, such as 12h (default: one day)',
    )
    .option(
      '--now',
      'refuse earlier secrets immediately; the application cannot authenticate until it has ' +
        'the new secret',
    )
    .option('--json', 'print only JSON to standard output')
    .action(async (clientId: string, options: AskedRotation) => {
      if (options.now === true && options.overlap !== undefined)
        context.fail('Use either --overlap or --now, not both');
      const overlap = readOverlap(context, options);
      if (overlap === 0 && options.now !== true)
        context.fail(
          'With --overlap 0, the application cannot authenticate until it has the new ' +
            'secret. If you want this, use --now',
        );
      const { clients } = await openServer(context);
      const { secret, previousExpiresAt } = await orFail(
        context,
        clients.rotateSecret(clientId, overlap, { by: 'console' }),
      );
      if (options.json === true) {
        const until = previousExpiresAt === null ? null : Math.floor(previousExpiresAt / 1000);
        return context.printJson({
          client_id: clientId,
          client_secret: secret,
          previous_secret_expires_at: until,
        });
      }
      context.print(`client secret: ${secret}`);
      context.note('Copy the secret now. It is not shown again: only its hash is stored.');
      context.note(
        previousExpiresAt === null
          ? 'The previous secret is no longer accepted.'
          : `The previous secret is accepted until ${new Date(previousExpiresAt).toISOString()}.`,
      );
    });
};

function readOverlap(context: ConsoleContext, { now, overlap }: AskedRotation): number | undefined {
  if (now === true) return 0;
  return overlap === undefined ? undefined : readSpan(context, '--overlap', overlap);
}
