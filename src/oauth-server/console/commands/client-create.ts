import type { AddCommands } from '../../../host/contracts.ts';
import { openServer } from '../open-server.ts';
import { clientMetadata } from './client-metadata.ts';
import { orFail } from './or-fail.ts';

interface Options {
  readonly redirect?: readonly string[];
  readonly scope?: readonly string[];
  readonly grant?: readonly string[];
  readonly public?: boolean;
  readonly idTokenAlg?: string;
  readonly json?: boolean;
}

export const addClientCreate: AddCommands = (program, context) => {
  program
    .command('oauth:client:create')
    .description('register an application; prints its client id and secret, once')
    .argument('<name>', 'what people will know the application by')
    .option('--redirect <uri>', 'a redirect URI, matched exactly (repeatable)', collect)
    .option('--scope <scopes>', 'the scopes it may ask for, separated by commas (repeatable)', collectList)
    .option(
      '--grant <grant>',
      'authorization_code, refresh_token, client_credentials or introspection (repeatable); ' +
        'with a redirect and no grant type: authorization_code and refresh_token',
      collect,
    )
    .option('--public', 'an application that cannot keep a secret, such as one in a browser or on a phone')
    .option(
      '--id-token-alg <algorithm>',
      'what its ID tokens are signed with: RS256, ES256 or EdDSA (default: RS256); ' +
        'for another than RS256 the server needs a key first, see oauth:keys:generate --help',
    )
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (name: string, options: Options) => {
      const server = await openServer(context);
      const registration = {
        name,
        redirectUris: options.redirect ?? [],
        scopes: options.scope ?? [],
        grants: options.grant ?? [],
        public: options.public === true,
        ...(options.idTokenAlg === undefined ? {} : { idTokenSignedResponseAlg: options.idTokenAlg }),
      };
      const { client, secret } = await orFail(context, server.clients.create(registration));
      if (options.json === true) {
        const credentials = secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 };
        return context.printJson({ ...clientMetadata(client), ...credentials });
      }
      context.print(`client id:     ${client.id}`);
      if (secret === null) return context.note('A public client has no secret; PKCE protects it.');
      context.print(`client secret: ${secret}`);
      context.note('Keep the secret now: only its hash is stored, and it is not shown again.');
    });
};

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function collectList(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/[\s,]+/).filter((item) => item !== '')];
}
