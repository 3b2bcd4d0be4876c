import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { AuthorizationFilter, HeldAuthorization } from '../../store/authorization-search.ts';
import { quoted, quotedPublic } from '../../quoting.ts';
import { isVerified } from '../../clients/who-asks.ts';
import { openServer } from '../open-server.ts';
import { readPage, readPerson, readTime, type PageOptions } from './list-options.ts';
import { orFail } from './or-fail.ts';

interface Options extends PageOptions {
  readonly client?: string;
  readonly person?: readonly string[];
  readonly scope?: string;
  readonly unusedSince?: string;
  readonly json?: boolean;
}

export const addAuthorizationList: AddCommands = (program, context) => {
  program
    .command('oauth:authorization:list')
    .description('list active authorizations (who has access), newest first')
    .option('--client <client_id>', 'only authorizations of this application')
    .option(
      '--person <provider_and_id...>',
      "only authorizations of this person; takes two values: the provider and the person's id",
    )
    .option('--scope <scope>', 'only authorizations with this scope')
    .option(
      '--unused-since <time>',
      'only authorizations that have received no new tokens since this time: a date, a time, ' +
        'or an age such as 90d',
    )
    .option('--limit <number>', 'the maximum number of rows, 1 to 1000 (default: 50)')
    .option('--after <cursor>', 'show the next page; use the cursor that the previous page printed')
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { json } = options;
      const { access, clients, clock } = await openServer(context);
      const filter = readFilter(context, options, clock());
      if (filter.clientId !== undefined && (await clients.find(filter.clientId)) === null) {
        context.fail('No client has this id; see oauth:client:list');
      }
      const { items, next } = await orFail(context, access.list(filter, readPage(options)));
      if (json === true) return context.printJson({ items: items.map(asJson), next });
      if (items.length > 0) context.print(items.map(describe).join('\n\n'));
      if (next !== null)
        context.note(
          `${items.length === 0 ? NONE_YET : 'There may be more.'} Continue with --after ${next}`,
        );
      else if (items.length === 0) context.note('No active authorization matches.');
    });
};

const NONE_YET = 'No matches so far. There are more rows to search.';

const HELP = `
An authorization is active until it or its application is revoked, or until all its tokens and codes have expired. Each page searches
5,000 authorizations, so a page can have fewer rows than --limit, or none, even if there are more.

"refreshed" is when the authorization last received tokens. Earlier releases did not store this time. For their authorizations, it is
"unknown", and --unused-since uses the time at which the person allowed the application. While processes of an earlier release are
still running, the time can be too early.

Example:
  $ npx portico oauth:authorization:list --person users 42 --unused-since 90d`;

function readFilter(context: ConsoleContext, options: Options, now: number): AuthorizationFilter {
  const { client, person, scope, unusedSince } = options;
  return {
    ...(client === undefined ? {} : { clientId: client }),
    ...(person === undefined ? {} : { person: readPerson(context, person) }),
    ...(scope === undefined ? {} : { scope }),
    ...(unusedSince === undefined
      ? {}
      : { unusedSince: readTime(context, '--unused-since', unusedSince, now) }),
  };
}

const iso = (time: number) => new Date(time).toISOString();

function describe(authorization: HeldAuthorization): string {
  const { id, client, person, scopes, audience, givenBy, createdAt, usedAt, expiresAt } =
    authorization;
  const name = isVerified(client) ? client.name : quoted(client.name);
  const used = usedAt === null ? 'never' : usedAt === 'unknown' ? usedAt : iso(usedAt);
  return [
    `${id}  ${name}  (${client.id})`,
    `  person     ${quotedPublic(person.provider)} ${quotedPublic(person.id)}`,
    `  scopes     ${scopes.join(', ')}`,
    ...(audience === null ? [] : [`  audience   ${audience}`]),
    ...(givenBy === null ? [] : [`  given by   ${givenBy} (the person's organization)`]),
    `  since      ${iso(createdAt)}`,
    `  refreshed  ${used}`,
    `  expires    ${iso(expiresAt)}`,
  ].join('\n');
}

function asJson(authorization: HeldAuthorization) {
  const { id, client, person, subject, scopes, audience, givenBy, createdAt, usedAt, expiresAt } =
    authorization;
  return {
    id,
    client_id: client.id,
    client_name: client.name,
    registered_by: client.registeredBy,
    person,
    subject,
    scopes,
    audience,
    ...(givenBy === null ? {} : { given_by: givenBy }),
    created_at: iso(createdAt),
    used: usedAt === null ? 'never' : usedAt === 'unknown' ? usedAt : 'known',
    used_at: typeof usedAt === 'number' ? iso(usedAt) : null,
    expires_at: iso(expiresAt),
  };
}
