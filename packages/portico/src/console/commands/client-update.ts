import type { Command } from 'commander';
import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { ClientChanges } from '../../clients/changed-client.ts';
import type { FieldChange } from '../../clients/field-changes.ts';
import { furtherJson, type FieldShape, type MetadataField } from '../../store/further-metadata.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { clientMetadata } from './client-metadata.ts';
import type { ClientChoices } from './client-create.ts';
import {
  addFieldOptions,
  collect,
  collectList,
  namedFields,
  namedKeys,
  namedLogo,
  warnOfSchemes,
} from './client-options.ts';
import { orFail } from './or-fail.ts';

interface Options {
  readonly name?: string;
  readonly addRedirectUri?: readonly string[];
  readonly removeRedirectUri?: readonly string[];
  readonly allowScheme?: readonly string[];
  readonly addScope?: readonly string[];
  readonly removeScope?: readonly string[];
  readonly addGrant?: readonly string[];
  readonly removeGrant?: readonly string[];
  readonly site?: string;
  readonly removeSite?: boolean;
  readonly logo?: string;
  readonly removeLogo?: boolean;
  readonly jwks?: string;
  readonly jwksAlg?: string;
  readonly json?: boolean;
}

export const addClientUpdate =
  ({ fields }: ClientChoices): AddCommands =>
  (program, context) => {
    const command = program
      .command('oauth:client:update')
      .description(
        'change an application that an operator registered. If one change is refused, none ' +
          "are applied. What you remove stops working at the application's next request, even " +
          'for existing tokens and pending requests',
      )
      .argument('<client_id>');
    addAccessOptions(command);
    addOtherOptions(command);
    command.option('--json', 'print only JSON to standard output');
    const replaces = (text: string, shape: FieldShape) =>
      shape === 'texts'
        ? `${text}; this replaces all existing values, and an empty value removes them`
        : `${text}; an empty value removes it`;
    addFieldOptions(command, fields, replaces, true);
    command
      .addHelpText(
        'after',
        '\nExample:\n  $ npx portico oauth:client:update 4f0c… ' +
          '--add-redirect-uri=https://new.example/cb ' +
          '--remove-redirect-uri=https://old.example/cb',
      )
      .action((clientId: string, options: Options) => update(context, fields, clientId, options));
  };

function addAccessOptions(command: Command): void {
  command
    .option('--name <name>', 'the name that people will see')
    .option('--add-redirect-uri <uri>', 'add a redirect URI (repeatable)', collect)
    .option(
      '--remove-redirect-uri <uri>',
      'remove a redirect URI, exactly as oauth:client:show prints it (repeatable); codes that ' +
        'were already sent to it are refused',
      collect,
    )
    .option(
      '--allow-scheme <scheme>',
      'allow this private-use scheme without a dot in --add-redirect-uri; see ' +
        'oauth:client:create --help (repeatable)',
      collect,
    )
    .option(
      '--add-scope <scopes>',
      'add scopes that the application may request, separated by commas (repeatable)',
      collectList,
    )
    .option(
      '--remove-scope <scopes>',
      'remove scopes, separated by commas (repeatable); existing tokens lose them too',
      collectList,
    )
    .option(
      '--add-grant <grant>',
      'add a grant type: authorization_code, refresh_token, client_credentials, introspection, ' +
        'or the URI of a grant that you have turned on (repeatable)',
      collect,
    )
    .option(
      '--remove-grant <grant>',
      'remove a grant type (repeatable). Until you add it again, these stop working: for ' +
        'authorization_code, all access that people allowed; for client_credentials, the ' +
        "application's own tokens; for refresh_token, its refresh tokens",
      collect,
    );
}

function addOtherOptions(command: Command): void {
  command
    .option(
      '--jwks <file or URL>',
      'the new public keys (RFC 7517): a file, or the https URL where the application ' +
        'publishes them',
    )
    .option(
      '--jwks-alg <algorithm>',
      'from now on, accept only this signing algorithm from the application',
    )
    .option('--site <url>', "the application's website (https), shown on the consent screen")
    .option('--remove-site', "remove the application's website")
    .option('--logo <file or URL>', 'the new logo; see oauth:client:create --help')
    .option('--remove-logo', "remove the application's logo");
}

async function update(
  context: ConsoleContext,
  fields: readonly MetadataField[],
  clientId: string,
  options: Options,
): Promise<void> {
  const changes = {
    ...named(options),
    ...namedFields(fields, options),
    ...(await orFail(context, namedKeys(options))),
    ...(await orFail(context, namedLogo(options.logo))),
  };
  if (Object.keys(changes).length === 0)
    context.fail('No changes given. Add an option such as --name or --remove-scope; see --help');
  const { clients, demands } = await openServer(context);
  const updated = await orFail(context, clients.update(clientId, changes, { by: 'console' }));
  warnOfSchemes(context, options.allowScheme);
  if (options.json === true) {
    return context.printJson({
      ...clientMetadata(updated.client, demands),
      ...furtherJson(fields, changes.metadata ?? {}),
      changes: updated.changes,
    });
  }
  const lines = Object.entries(updated.changes).map(describe);
  if (lines.length === 0)
    return context.note(`Nothing was changed: the client ${clientId} already has these values.`);
  context.print([`Changed the client ${clientId}:`, ...lines].join('\n'));
}

/**
 * Returns the changes in the options for `Clients.update`, without new keys, a new logo, and the
 * fields of features.
 */
function named(options: Options): ClientChanges {
  const { site, removeSite, removeLogo, allowScheme } = options;
  const { name, addRedirectUri, removeRedirectUri, addScope, removeScope, addGrant, removeGrant } =
    options;
  const all = {
    name,
    addRedirectUris: addRedirectUri,
    removeRedirectUris: removeRedirectUri,
    allowedSchemes: allowScheme,
    addScopes: addScope,
    removeScopes: removeScope,
    addGrants: addGrant,
    removeGrants: removeGrant,
    siteUri: removeSite === true ? null : site,
    ...(removeLogo === true ? { logo: null } : {}),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function describe([name, { before, after }]: [string, FieldChange]): string {
  return `  ${name}: ${shown(before)} → ${shown(after)}`;
}

/** Clients choose some of the strings, for example key ids, so strings are in quotes. */
function shown(value: FieldChange['before']): string {
  if (value === null || value.length === 0) return 'none';
  const values: readonly string[] = typeof value === 'string' ? [value] : value;
  return values.map(quotedPublic).join(', ');
}
