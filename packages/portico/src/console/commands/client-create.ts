import type { AddCommands } from '../../application/contracts.ts';
import { demandsSet, registrationOfDemands, type DemandDescription } from '../../store/client-demands.ts';
import type { SecurityProfile } from '../../profiles.ts';
import { openServer } from '../open-server.ts';
import { clientMetadata } from './client-metadata.ts';
import {
  collect,
  collectList,
  namedKeys,
  namedLogo,
  joinAlternatives,
  warnOfSchemes,
} from './client-options.ts';
import { orFail } from './or-fail.ts';

interface Options {
  readonly redirect?: readonly string[];
  readonly scope?: readonly string[];
  readonly grant?: readonly string[];
  readonly public?: boolean;
  readonly native?: boolean;
  readonly allowScheme?: readonly string[];
  readonly idTokenAlg?: string;
  readonly jwks?: string;
  readonly jwksAlg?: string;
  readonly profile?: string;
  readonly site?: string;
  readonly logo?: string;
  readonly json?: boolean;
}

/** The features that an operator can choose for a client. */
export interface ClientChoices {
  readonly demands: readonly DemandDescription[];
  readonly profiles: readonly SecurityProfile[];
  /** The algorithms that can sign ID tokens. */
  readonly algorithms: readonly string[];
}

export function addClientCreate({ demands, profiles, algorithms }: ClientChoices): AddCommands {
  return (program, context) => {
    const command = program
      .command('oauth:client:create')
      .description('register an application; prints its client id and secret, once')
      .argument('<name>', 'the name that people will see')
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
        '--native',
        'a program on a device: a redirect to http://127.0.0.1, http://[::1] or http://localhost matches on any port, ' +
          'and one may have a private-use scheme, such as com.example.app:/callback',
      )
      .option(
        '--allow-scheme <scheme>',
        'with --native: a private-use scheme without a dot that its redirects may have, such as cursor (repeatable); ' +
          'any program on a device can claim it',
        collect,
      )
      .option(
        '--id-token-alg <algorithm>',
        `the algorithm of its ID tokens: ${joinAlternatives(algorithms)} (default: RS256); ` +
          'any other than RS256 needs a key on the server first, see oauth:keys:generate --help',
      )
      .option(
        '--jwks <file or URL>',
        'its public keys (RFC 7517): a file, or the https URL where it publishes them; it then authenticates by ' +
          'private_key_jwt, and has no secret',
      )
      .option(
        '--jwks-alg <algorithm>',
        'the only algorithm that it signs with: RS256, PS256, ES256, EdDSA or Ed25519 (default: any of these that its keys are for)',
      );
    for (const { option } of demands) command.option(option.flag, option.says);
    if (profiles.length > 0)
      command.option('--profile <profile>', profiles.map(({ name, says }) => `${name}: ${says}`).join('; '));
    command
      .option('--site <url>', 'its website (https), which the consent screen shows')
      .option(
        '--logo <file or URL>',
        'a picture for the pages of consent and applications: PNG, JPEG, GIF or WebP, at most 64 KB and 512 × 512 pixels; it is stored here, ' +
          'and an address is fetched only once, now; oauth_server:client_logos must be true',
      )
      .option('--json', 'print only JSON to standard output')
      .action(async (name: string, options: Options & Readonly<Record<string, unknown>>) => {
        const server = await openServer(context);
        const registration = {
          name,
          redirectUris: options.redirect ?? [],
          scopes: options.scope ?? [],
          grants: options.grant ?? [],
          public: options.public === true,
          applicationType: options.native === true ? 'native' : 'web',
          allowedSchemes: options.allowScheme ?? [],
          ...registrationOfDemands(
            demandsSet(demands, ({ option }) => options[optionName(option.flag)] === true),
          ),
          ...(options.profile === undefined ? {} : { profile: options.profile }),
          ...(options.site === undefined ? {} : { siteUri: options.site }),
          ...(options.idTokenAlg === undefined ? {} : { idTokenSignedResponseAlg: options.idTokenAlg }),
        };
        const withKeys = {
          ...registration,
          ...(await orFail(context, namedKeys(options))),
          ...(await orFail(context, namedLogo(options.logo))),
        };
        const { client, secret } = await orFail(context, server.clients.create(withKeys, { by: 'console' }));
        warnOfSchemes(context, options.allowScheme);
        if (options.json === true) {
          const credentials = secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 };
          return context.printJson({ ...clientMetadata(client, server.demands), ...credentials });
        }
        context.print(`client id:     ${client.id}`);
        if (client.keys !== null) {
          context.note('It has no secret: it authenticates by its own keys, with private_key_jwt.');
          const problems = await server.clientKeyProblems(client);
          if (problems.length > 0) context.note(`Of its keys: ${problems.join('; ')}.`);
          return;
        }
        if (secret === null) return context.note('A public client has no secret; PKCE protects it.');
        context.print(`client secret: ${secret}`);
        context.note('Keep the secret now: only its hash is stored, and it is not shown again.');
      });
  };
}

/** Returns the option name that commander uses. */
function optionName(flag: string): string {
  return flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
