import type { Command } from 'commander';
import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { AuthorizationServer } from '../../authorization-server.ts';
import type { ClientRegistration } from '../../clients/registration.ts';
import type { Client } from '../../store/client.ts';
import { askedDemands, type DemandDescription } from '../../store/client-demands.ts';
import { furtherJson, type MetadataField } from '../../store/further-metadata.ts';
import type { SecurityProfile } from '../../profiles.ts';
import { openServer } from '../open-server.ts';
import { clientMetadata } from './client-metadata.ts';
import {
  addFieldOptions,
  collect,
  collectList,
  namedFields,
  namedKeys,
  namedLogo,
  namedWorkload,
  joinAlternatives,
  optionName,
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
  readonly workload?: string;
  readonly subject?: string;
  readonly profile?: string;
  readonly site?: string;
  readonly logo?: string;
  readonly json?: boolean;
}

export interface ClientChoices {
  readonly demands: readonly DemandDescription[];
  readonly profiles: readonly SecurityProfile[];
  /** The metadata fields that features add. */
  readonly fields: readonly MetadataField[];
  /** The algorithms for the client's ID tokens. */
  readonly algorithms: readonly string[];
}

export function addClientCreate(choices: ClientChoices): AddCommands {
  return (program, context) => {
    const command = program
      .command('oauth:client:create')
      .description(
        'register an application, and print its client id and its secret (shown only once)',
      )
      .argument('<name>', 'the name that people will see');
    addKindOptions(command);
    addKeyOptions(command, choices);
    addFeatureOptions(command, choices);
    command
      .option('--site <url>', "the application's website (https), shown on the consent screen")
      .option(
        '--logo <file or URL>',
        "the application's logo, for the consent and applications pages: a PNG, JPEG, GIF or " +
          'WebP image of at most 64 KB and 512 × 512 pixels. If you pass a URL, Portico fetches ' +
          'the image once and stores it. Requires oauth_server:client_logos',
      )
      .option('--json', 'print only JSON to standard output')
      .action((name: string, options: Given) => create(context, choices, name, options));
  };
}

function addKindOptions(command: Command): void {
  command
    .option(
      '--redirect <uri>',
      'a redirect URI; requests must use exactly this URI (repeatable)',
      collect,
    )
    .option(
      '--scope <scopes>',
      'the scopes that the application may request, separated by commas (repeatable)',
      collectList,
    )
    .option(
      '--grant <grant>',
      'a grant type: authorization_code, refresh_token, client_credentials, introspection, or ' +
        'the URI of a grant that you have turned on (repeatable). Default with a redirect URI: ' +
        'authorization_code and refresh_token',
      collect,
    )
    .option(
      '--public',
      'an application that cannot keep a secret, such as a browser or mobile application',
    )
    .option(
      '--native',
      'a native application: redirect URIs at http://127.0.0.1, http://[::1] or ' +
        'http://localhost match on any port, and redirect URIs can use a private-use scheme, ' +
        'such as com.example.app:/callback',
    )
    .option(
      '--allow-scheme <scheme>',
      'with --native: also allow redirect URIs with this private-use scheme, which has no ' +
        'dot, such as cursor (repeatable). Other programs on the device can use the same scheme',
      collect,
    );
}

function addKeyOptions(command: Command, { algorithms }: ClientChoices): void {
  command
    .option(
      '--id-token-alg <algorithm>',
      `the algorithm for the application's ID tokens: ${joinAlternatives(algorithms)} ` +
        '(default: RS256); for other algorithms, first generate a key (see oauth:keys:generate ' +
        '--help)',
    )
    .option(
      '--jwks <file or URL>',
      "the application's public keys (RFC 7517): a file, or the https URL where the " +
        'application publishes them. The client then authenticates with private_key_jwt and has ' +
        'no secret',
    )
    .option(
      '--jwks-alg <algorithm>',
      'accept only this signing algorithm from the application: RS256, PS256, ES256, EdDSA or ' +
        'Ed25519 (default: all that its keys support)',
    )
    .option(
      '--workload <issuer>',
      'for a program that gets a token from its platform, such as a Kubernetes pod: the ' +
        'issuer of that token (see oauth_server:trusted_issuers). The client then has no secret',
    )
    .option(
      '--subject <pattern>',
      "with --workload: the sub of the program's token. A * at the end, after / or :, matches " +
        'any single segment, for example system:serviceaccount:prod:*',
    );
}

function addFeatureOptions(command: Command, { demands, fields, profiles }: ClientChoices): void {
  for (const { option } of demands) command.option(option.flag, option.says);
  addFieldOptions(command, fields, (says) => says, false);
  if (profiles.length > 0)
    command.option(
      '--profile <profile>',
      profiles.map(({ name, says }) => `${name}: ${says}`).join('; '),
    );
}

type Given = Options & Readonly<Record<string, unknown>>;

async function create(
  context: ConsoleContext,
  choices: ClientChoices,
  name: string,
  options: Given,
): Promise<void> {
  const server = await openServer(context);
  const registration = {
    ...readRegistration(choices, name, options),
    ...(await orFail(context, namedKeys(options))),
    ...(await orFail(context, namedWorkload(options))),
    ...(await orFail(context, namedLogo(options.logo))),
  };
  const creating = server.clients.create(registration, { by: 'console' });
  const { client, secret } = await orFail(context, creating);
  warnOfSchemes(context, options.allowScheme);
  if (options.json === true) {
    const credentials =
      secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 };
    return context.printJson({
      ...clientMetadata(client, server.demands),
      ...furtherJson(choices.fields, registration.metadata ?? {}),
      ...credentials,
    });
  }
  context.print(`client id:     ${client.id}`);
  if (client.keys !== null) return noteKeys(context, server, client);
  if (secret === null) {
    const pkce = client.grants.includes('authorization_code') ? ' and uses PKCE' : '';
    return context.note(`This client is public: it has no secret${pkce}.`);
  }
  context.print(`client secret: ${secret}`);
  context.note('Copy the secret now. It is not shown again: only its hash is stored.');
}

function readRegistration(
  { demands, fields }: ClientChoices,
  name: string,
  options: Given,
): ClientRegistration {
  return {
    name,
    redirectUris: options.redirect ?? [],
    scopes: options.scope ?? [],
    grants: options.grant ?? [],
    public: options.public === true,
    applicationType: options.native === true ? 'native' : 'web',
    allowedSchemes: options.allowScheme ?? [],
    ...askedDemands(demands, ({ option }) => options[optionName(option.flag)] === true),
    ...namedFields(fields, options),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.site === undefined ? {} : { siteUri: options.site }),
    ...(options.idTokenAlg === undefined ? {} : { idTokenSignedResponseAlg: options.idTokenAlg }),
  };
}

/** Prints how a new client with keys or a workload authenticates. */
async function noteKeys(
  context: ConsoleContext,
  server: AuthorizationServer,
  client: Client,
): Promise<void> {
  if (client.keys?.workload !== undefined)
    return context.note("This client has no secret. It authenticates with its workload's token.");
  context.note('This client has no secret. It authenticates with its keys (private_key_jwt).');
  const problems = await server.clientKeyProblems(client);
  if (problems.length > 0)
    context.note(`Warning: some keys cannot be used: ${problems.join('; ')}.`);
}
