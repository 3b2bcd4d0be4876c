import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import { readPage, readPerson, type PageOptions } from '../../console/commands/list-options.ts';
import { orFail } from '../../console/commands/or-fail.ts';
import { openServer } from '../../console/open-server.ts';
import { quotedPublic } from '../../quoting.ts';
import type { Link } from './links.ts';
import type { OrganizationAccess } from './organization-access.ts';

const CONSOLE = { by: 'console' } as const;
const PERSON = "the account; takes two values: the provider and the person's id";

const addLinkCreate: AddCommands = (program, context) => {
  program
    .command('oauth:link:create')
    .description('link a subject of a trusted issuer to an account')
    .argument('<issuer>', 'the issuer, as in oauth_server:trusted_issuers')
    .argument('<subject>', "the value of sub in the issuer's assertions")
    .requiredOption('--person <provider_and_id...>', PERSON)
    .action(async (issuer: string, subject: string, options: WithPerson) => {
      const person = readPerson(context, options.person);
      await orFail(context, (await open(context)).link({ issuer, subject }, person, CONSOLE));
      context.print(`Linked to ${quotedPublic(person.provider)} ${quotedPublic(person.id)}.`);
    });
};

const addLinkList: AddCommands = (program, context) => {
  program
    .command('oauth:link:list')
    .description('list the links between subjects of trusted issuers and accounts')
    .option('--limit <number>', 'the maximum number of rows, 1 to 1000 (default: 50)')
    .option('--after <cursor>', 'show the next page; use the cursor that the previous page printed')
    .option('--json', 'print only JSON to standard output')
    .action(async (options: PageOptions & { readonly json?: boolean }) => {
      const { limit = 50, after } = readPage(options);
      const access = await open(context);
      const { items, next } = await orFail(context, access.list(limit, after));
      if (options.json === true) return context.printJson({ items: items.map(asJson), next });
      if (items.length > 0) context.print(items.map(describe).join('\n'));
      if (next !== null) context.note(`There are more. Continue with --after ${next}`);
      else if (items.length === 0) context.note('There is no link; see oauth:link:create --help.');
    });
};

const addLinkRemove: AddCommands = (program, context) => {
  program
    .command('oauth:link:remove')
    .description(
      'remove a link; tokens that were issued because of the link stop working immediately',
    )
    .argument('<issuer>')
    .argument('<subject>')
    .action(async (issuer: string, subject: string) => {
      await orFail(context, (await open(context)).unlink({ issuer, subject }, CONSOLE));
      context.print('Removed the link.');
    });
};

const addAllow: AddCommands = (program, context) => {
  program
    .command('oauth:authorization:allow')
    .description('let an organization give access again after a person or operator ended it')
    .argument(
      '[client_id]',
      'the client; if you omit it, all clients except those whose access was ended individually',
    )
    .requiredOption('--person <provider_and_id...>', PERSON)
    .action(async (clientId: string | undefined, options: WithPerson) => {
      const person = readPerson(context, options.person);
      const ended = { person, clientId: clientId ?? null };
      await orFail(context, (await open(context)).allow(ended, CONSOLE));
      context.print('Allowed. The next assertion from the organization is accepted.');
    });
};

export const addJwtBearerCommands: AddCommands = (program, context) => {
  addLinkCreate(program, context);
  addLinkList(program, context);
  addLinkRemove(program, context);
  addAllow(program, context);
};

interface WithPerson {
  readonly person: readonly string[];
}

async function open(context: ConsoleContext): Promise<OrganizationAccess> {
  const { organizationAccess } = await openServer(context);
  return (
    organizationAccess ?? context.fail('oauth_server:jwt_bearer_grant is off; set it to true first')
  );
}

function describe({ issuer, tenant, subject, person, createdAt }: Link): string {
  const who = tenant === null ? issuer : `${issuer}  tenant ${quotedPublic(tenant)}`;
  const whose = `${quotedPublic(person.provider)} ${quotedPublic(person.id)}`;
  return `${who}  ${quotedPublic(subject)}  ${whose}  since ${new Date(createdAt).toISOString()}`;
}

function asJson({ issuer, tenant, subject, person, createdAt }: Link) {
  return { issuer, tenant, subject, person, created_at: new Date(createdAt).toISOString() };
}
