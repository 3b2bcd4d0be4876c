import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import { EVENT_TYPES, isEventType } from '../../auditing/event-types.ts';
import type { AuditFilter, AuditRecord } from '../../auditing/kept-audit.ts';
import type { AuthorizationServer } from '../../authorization-server.ts';
import {
  readPage,
  readPerson,
  readTime,
  type PageOptions,
} from '../../console/commands/list-options.ts';
import { orFail } from '../../console/commands/or-fail.ts';
import { openServer } from '../../console/open-server.ts';
import { jsonText } from '../../http/json.ts';
import { recordAsJson, recordAsLine, visibleJson } from './record.ts';

interface Options extends PageOptions {
  readonly since?: string;
  readonly until?: string;
  readonly client?: string;
  readonly person?: readonly string[];
  readonly authorization?: string;
  readonly type?: string;
  readonly json?: boolean;
  readonly jsonLines?: boolean;
}

export const addAuditList: AddCommands = (program, context) => {
  program
    .command('oauth:audit')
    .description('list the stored audit events (oauth_server:audit:keep), newest first')
    .option(
      '--since <time>',
      'only events since this time: a date, a time, or an age such as 30d, 12h, 90m or 45s',
    )
    .option('--until <time>', 'only events before this time')
    .option('--client <client_id>', 'only events about this application')
    .option(
      '--person <provider_and_id...>',
      "only events about this person; takes two values: the provider and the person's id",
    )
    .option(
      '--authorization <id>',
      'only events about this authorization; for ids, see oauth:authorization:list',
    )
    .option('--type <type>', 'only events of this type, such as refresh_token_replayed')
    .option('--limit <number>', 'the maximum number of rows, 1 to 1000 (default: 50)')
    .option('--after <cursor>', 'show the next page; use the cursor that the previous page printed')
    .option('--json', 'print only JSON to standard output')
    .option('--json-lines', 'print each event as one line of JSON; without --limit, all events')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const server = await openServer(context);
      const filter = readFilter(context, options, server.clock());
      if (options.jsonLines === true) {
        return printLines(context, server, filter, options, (record) =>
          context.print(recordAsLine(record)),
        );
      }
      const { items, next } = await orFail(context, server.audit.list(filter, readPage(options)));
      if (options.json === true) return context.printJson({ items: items.map(recordAsJson), next });
      for (const record of items) context.print(visibleJson(described(recordAsJson(record))));
      noteEnd(context, server, items.length, next);
    });
};

const HELP = `
Ids must match exactly. With several filters, each page searches only a few thousand events, so a page can have fewer events than
--limit, or none, even if there are more.

Example:
  $ npx portico oauth:audit --since 24h --type refresh_token_replayed
  $ npx portico oauth:audit --person users 42 --json`;

function readFilter(context: ConsoleContext, options: Options, now: number): AuditFilter {
  const { since, until, client, person, authorization, type } = options;
  if (type !== undefined && !isEventType(type)) {
    return context.fail(`Unknown event type; use one of ${EVENT_TYPES.join(', ')}`);
  }
  return {
    ...(since === undefined ? {} : { since: readTime(context, '--since', since, now) }),
    ...(until === undefined ? {} : { until: readTime(context, '--until', until, now) }),
    ...(client === undefined ? {} : { clientId: client }),
    ...(person === undefined ? {} : { person: readPerson(context, person) }),
    ...(authorization === undefined ? {} : { authorization }),
    ...(type === undefined ? {} : { type }),
  };
}

const WHOLE_PAGE = 1000;

/** Prints all matching events, page by page, or one page if `--limit` is set. */
async function printLines(
  context: ConsoleContext,
  { audit }: AuthorizationServer,
  filter: AuditFilter,
  options: Options,
  print: (record: AuditRecord) => void,
): Promise<void> {
  const { limit, after } = readPage(options);
  for (let next = after ?? null, isFirst = true; isFirst || next !== null; isFirst = false) {
    const from = next === null ? {} : { after: next };
    const page = await orFail(context, audit.list(filter, { limit: limit ?? WHOLE_PAGE, ...from }));
    for (const record of page.items) print(record);
    ({ next } = page);
    if (limit === undefined) continue;
    if (next !== null) context.note(goOn(next));
    return;
  }
}

function noteEnd(
  context: ConsoleContext,
  { audit }: AuthorizationServer,
  count: number,
  next: string | null,
): void {
  if (next !== null) {
    const found =
      count === 0 ? 'No matches so far. There are more rows to search.' : 'There are more.';
    return context.note(`${found} ${goOn(next)}`);
  }
  if (count > 0) return;
  context.note(
    audit.keeps
      ? 'No audit event matches.'
      : 'No audit events are stored, because oauth_server:audit:keep is off.',
  );
}

const goOn = (next: string) => `Continue with --after ${next}`;

/**
 * Formats an event as one line: the time, the type, and the other fields as `name=value`. Omits the
 * id and fields without a value.
 */
function described({ details, ...named }: ReturnType<typeof recordAsJson>): string {
  const fields = Object.entries({ ...named, ...details }).filter(
    ([name, value]) => value !== null && !BEFORE.includes(name),
  );
  return [named.time, named.type, ...fields.map(([name, value]) => `${name}=${shown(value)}`)].join(
    '  ',
  );
}

/** The line starts with the time and the type, and omits the id. */
const BEFORE: readonly string[] = ['id', 'time', 'type'];

/** Returns a word of visible ASCII characters unchanged, and any other value as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\x21-\x7E]+$/.test(value)) return value;
  return jsonText(value);
}
