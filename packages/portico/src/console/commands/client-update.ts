import type { AddCommands } from '../../application/contracts.ts';
import type { ClientChanges, FieldChange } from '../../clients/updating.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { clientMetadata } from './client-metadata.ts';
import { collect, collectList, namedKeys, namedLogo, warnOfSchemes } from './client-options.ts';
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

export const addClientUpdate: AddCommands = (program, context) => {
  program
    .command('oauth:client:update')
    .description(
      'change an application that an operator registered; all changes are made, or none; a removal takes effect at its next ' +
        'request, also for its tokens and for requests that have begun',
    )
    .argument('<client_id>')
    .option('--name <name>', 'the name that people will see')
    .option('--add-redirect-uri <uri>', 'one more redirect URI (repeatable)', collect)
    .option(
      '--remove-redirect-uri <uri>',
      'written as oauth:client:show shows it (repeatable); codes that were sent there are no longer exchanged',
      collect,
    )
    .option(
      '--allow-scheme <scheme>',
      'a private-use scheme without a dot that a redirect URI of --add-redirect-uri may have, as for oauth:client:create (repeatable)',
      collect,
    )
    .option(
      '--add-scope <scopes>',
      'more scopes that it may ask for, separated by commas (repeatable)',
      collectList,
    )
    .option(
      '--remove-scope <scopes>',
      'separated by commas (repeatable); its tokens lose these scopes',
      collectList,
    )
    .option(
      '--add-grant <grant>',
      'authorization_code, refresh_token, client_credentials or introspection (repeatable)',
      collect,
    )
    .option(
      '--remove-grant <grant>',
      '(repeatable) what it gave stops working until the grant is added again: with authorization_code everything that people ' +
        'allowed, with client_credentials its own tokens, with refresh_token the refresh tokens',
      collect,
    )
    .option(
      '--jwks <file or URL>',
      'new public keys (RFC 7517): a file, or the https URL where it publishes them',
    )
    .option('--jwks-alg <algorithm>', 'the only algorithm that it signs with from now on')
    .option('--site <url>', 'its website (https), which the consent screen shows')
    .option('--remove-site', 'remove its website')
    .option('--logo <file or URL>', 'a new picture, as for oauth:client:create')
    .option('--remove-logo', 'remove its picture')
    .option('--json', 'print only JSON to standard output')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx portico oauth:client:update 4f0c… --add-redirect-uri=https://new.example/cb ' +
        '--remove-redirect-uri=https://old.example/cb',
    )
    .action(async (clientId: string, options: Options) => {
      const changes = {
        ...named(options),
        ...(await orFail(context, namedKeys(options))),
        ...(await orFail(context, namedLogo(options.logo))),
      };
      if (Object.keys(changes).length === 0) {
        context.fail('Say what to change, such as --name or --remove-scope; see --help');
      }
      const { clients, demands } = await openServer(context);
      const updated = await orFail(context, clients.update(clientId, changes, { by: 'console' }));
      warnOfSchemes(context, options.allowScheme);
      if (options.json === true) {
        return context.printJson({ ...clientMetadata(updated.client, demands), changes: updated.changes });
      }
      const lines = Object.entries(updated.changes).map(describe);
      if (lines.length === 0) return context.note(`Nothing to change: the client ${clientId} is so already.`);
      context.print([`The client ${clientId} is changed:`, ...lines].join('\n'));
    });
};

/** Returns the given options with their programmatic names. */
function named(options: Options): ClientChanges {
  const { site, removeSite, removeLogo, allowScheme } = options;
  const { name, addRedirectUri, removeRedirectUri, addScope, removeScope, addGrant, removeGrant } = options;
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

/**
 * Returns a value for display. Key names are quoted, because the owner of a key can choose any
 * name.
 */
function shown(value: FieldChange['before']): string {
  if (value === null || value.length === 0) return 'none';
  const values: readonly string[] = typeof value === 'string' ? [value] : value;
  return values.map(quotedPublic).join(', ');
}
