import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { ListedMessage } from '../../outbox/message.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { readPage, type PageOptions } from './list-options.ts';
import { orFail } from './or-fail.ts';

interface ListOptions extends PageOptions {
  readonly receiver?: string;
  readonly undelivered?: boolean;
  readonly json?: boolean;
}

interface Selected {
  readonly id?: string;
  readonly receiver?: string;
  readonly undelivered?: boolean;
  readonly all?: boolean;
}

const addOutboxList: AddCommands = (program, context) => {
  program
    .command('oauth:outbox')
    .description(
      'list outgoing messages that are waiting for delivery or could not be delivered, newest ' +
        'first',
    )
    .option('--receiver <receiver>', 'only messages for this receiver, such as a client_id')
    .option(
      '--undelivered',
      'only messages that could not be delivered and are not retried automatically',
    )
    .option('--limit <number>', 'the maximum number of rows, 1 to 1000 (default: 50)')
    .option(
      '--after <id>',
      'show the next page; use the id of the last message of the previous page',
    )
    .option('--json', 'print only JSON to standard output')
    .action(async ({ receiver, undelivered = false, json, ...page }: ListOptions) => {
      const { outbox } = await openServer(context);
      const filter = {
        ...(receiver === undefined ? {} : { receiver }),
        ...(undelivered ? { state: 'undelivered' as const } : {}),
      };
      const messages = await orFail(context, outbox.list(filter, readPage(page)));
      const [counts, dropped] = [await outbox.counts(), await outbox.dropped()];
      if (json === true) return context.printJson({ items: messages.map(asJson), counts, dropped });
      if (counts === null) return context.note('No feature that sends messages is turned on.');
      for (const message of messages) context.print(describe(message));
      const { waiting, undelivered: lost } = counts;
      context.note(
        `Messages waiting: ${waiting}, not delivered: ${lost}, dropped: ${counts.dropped}.`,
      );
      for (const each of dropped)
        context.note(
          `${each.dropped} messages of the kind ${each.kind} for ${quotedPublic(each.receiver)} ` +
            "were dropped, because the receiver's queue was full.",
        );
    });
};

const addOutboxRetry: AddCommands = (program, context) => {
  program
    .command('oauth:outbox:retry')
    .description('retry messages that could not be delivered, for up to a day')
    .argument('[id]', 'the id of one message, as oauth:outbox prints it')
    .option('--receiver <receiver>', 'retry all messages for this receiver')
    .option('--all', 'retry all messages')
    .action(async (id: string | undefined, options: Selected) => {
      const outbox = await open(context);
      const selection = select(context, id, options);
      const count = await outbox.retry(selection);
      if (id !== undefined && count === 0)
        context.fail(`No undelivered message has the id ${quotedPublic(id)}; see oauth:outbox`);
      context.print(
        `${count} messages are waiting for delivery again. Messages that were already waiting ` +
          'are retried now.',
      );
    });
};

const addOutboxDiscard: AddCommands = (program, context) => {
  program
    .command('oauth:outbox:discard')
    .description('remove messages without delivering them')
    .argument('[id]', 'the id of one message, as oauth:outbox prints it')
    .option(
      '--receiver <receiver>',
      'remove all messages for this receiver, including those that are still waiting',
    )
    .option(
      '--undelivered',
      'remove all messages that could not be delivered and are not retried automatically',
    )
    .action(async (id: string | undefined, { undelivered = false, ...options }: Selected) => {
      const outbox = await open(context);
      const selection = select(context, id, { ...options, all: undelivered });
      const state = undelivered ? { state: 'undelivered' as const } : {};
      const count = await outbox.discard({ ...selection, ...state });
      if (id !== undefined && count === 0)
        context.fail(`No message has the id ${quotedPublic(id)}; see oauth:outbox`);
      context.print(`Removed ${count} messages.`);
    });
};

export const addOutbox: AddCommands = (program, context) => {
  for (const add of [addOutboxList, addOutboxRetry, addOutboxDiscard]) add(program, context);
};

async function open(context: ConsoleContext): Promise<Outbox> {
  const { outbox } = await openServer(context);
  return outbox.isOn ? outbox : context.fail('No feature that sends messages is turned on');
}

/** Ends the command if the operator selected no messages. */
function select(
  context: ConsoleContext,
  id: string | undefined,
  { receiver, all = false }: Selected,
): { readonly id?: string; readonly receiver?: string } {
  if (id !== undefined && (receiver !== undefined || all))
    return context.fail('Pass either the id of one message or an option, not both');
  if (id !== undefined) return { id };
  if (receiver !== undefined) return { receiver };
  return all ? {} : context.fail('Pass the id of a message or an option; see --help');
}

function describe(message: ListedMessage): string {
  const { id, kind, receiver, state, attempts, reason, createdAt } = message;
  const why = reason === null ? '' : `: ${reason}`;
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const since = new Date(createdAt).toISOString();
  return `${id}  ${kind} for ${quotedPublic(receiver)}  ${state} since ${since}, ${times}${why}`;
}

function asJson({ createdAt, expiresAt, ...message }: ListedMessage) {
  return {
    ...message,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
  };
}
