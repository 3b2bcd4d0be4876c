import { OAuthError } from '../errors.ts';
import { missingKey } from '../keys/algorithms.ts';
import type { Parameters } from '../parameters.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { getIndirectRefusal, type IndirectRefusal } from './direct-requests.ts';
import type { Findings, RequestCheck, RequestToCheck } from './request-check.ts';
import { quotedAudience, type Resources } from '../tokens/resource-indicators.ts';
import { requireScopes } from '../tokens/scopes.ts';
import {
  refuseMaxAge,
  refuseRepeatedParameters,
  refuseRequestObjects,
  refuseSilent,
  requirePkce,
  requirePrompt,
  requireResource,
  requireResponseType,
  requireThumbprint,
} from './request-parameters.ts';

/**
 * The checks of an authorization request whose client and redirect URI are valid. The server
 * redirects their errors to the redirect URI. A client that sent the request directly gets the
 * error in the response.
 */

export interface CheckContext {
  readonly server: Server;
  readonly additions: AuthorizationAdditions;
}

/**
 * Returns what it found, or throws an OAuthError. `found` contains the results of earlier checks.
 */
type Run = (
  request: RequestToCheck,
  context: CheckContext,
  found: Findings,
) => ReturnType<RequestCheck>;

/** Creates a check that returns no results. */
function refuses(check: (request: RequestToCheck, context: CheckContext) => void): Run {
  return (request, context) => {
    check(request, context);
    return {};
  };
}

type Ways = readonly ('browser' | 'direct')[];

/** GET and POST to /oauth/authorize. */
const BROWSER = ['browser'] as const;
/** Also requests that clients send directly to the server. */
const BOTH = ['browser', 'direct'] as const;

/** In the order in which they run. */
const CHECKS: readonly (readonly [name: string, on: Ways, run: Run])[] = [
  [
    'repeated-parameters',
    BOTH,
    refuses((asked, by) =>
      refuseRepeatedParameters(asked.parameters, furtherParameters(by.additions)),
    ),
  ],
  ['request-objects', BOTH, refuses((asked) => refuseRequestObjects(asked.parameters))],
  [
    'indirect',
    BROWSER,
    refuses((asked, by) => refuseIndirect(asked.client, by.additions.indirectRefusals)),
  ],
  ['response_type', BOTH, refuses((asked) => requireResponseType(asked.parameters))],
  [
    'response_mode',
    BOTH,
    (asked, by) => by.additions.responseModes.require(asked.parameters, asked.returns),
  ],
  ['prompt', BOTH, refuses((asked) => requirePrompt(asked.parameters))],
  ['prompt_none', BOTH, refuses((asked) => refuseSilent(asked.parameters))],
  ['max_age', BOTH, refuses((asked) => refuseMaxAge(asked.parameters))],
  ['grant', BOTH, refuses((asked) => requireGrant(asked.client))],
  ['code_challenge', BOTH, (asked) => ({ codeChallenge: requirePkce(asked.parameters) })],
  ['key', BOTH, (asked, by) => ({ thumbprint: getKey(asked.parameters, keyParameter(by)) })],
  [
    'resource',
    BOTH,
    (asked, by) => ({ audience: requireResource(asked.parameters, by.server.resources) }),
  ],
  [
    'scope',
    BOTH,
    async (asked, by, found) => ({ scopes: await grantableScopes(asked, by, found.audience) }),
  ],
];

/** Throws the OAuthError of the first check that refuses the request. */
export async function runChecks(request: RequestToCheck, context: CheckContext): Promise<Findings> {
  const { checks: replaced } = context.additions.reading;
  let found: Findings = { codeChallenge: '', thumbprint: null, audience: null, scopes: [] };
  for (const [name, on, check] of CHECKS) {
    const run: Run = replaced[name] ?? check;
    if (on.includes(request.direct ? 'direct' : 'browser'))
      found = { ...found, ...(await run(request, context, found)) };
  }
  return found;
}

/** Features can replace checks by their names. */
export function isCheck(name: string): boolean {
  return CHECKS.some(([each]) => each === name);
}

/** Returns the request parameters that features add, including the one that names a key. */
export function furtherParameters({ binding, reading }: AuthorizationAdditions): readonly string[] {
  return binding === null ? reading.parameters : [binding.parameter, ...reading.parameters];
}

/** The request parameter that binds the code to a key. Null if codes are not bound to keys. */
function keyParameter({ additions }: CheckContext): string | null {
  return additions.binding?.parameter ?? null;
}

function getKey(parameters: Parameters, name: string | null): string | null {
  return name === null ? null : requireThumbprint(parameters, name);
}

/** Returns the scopes that the client requests and may get. Throws an OAuthError to refuse. */
export async function grantableScopes(
  { parameters, client }: Pick<RequestToCheck, 'parameters' | 'client'>,
  { server, additions }: CheckContext,
  audience: string | null,
): Promise<readonly string[]> {
  const { resources } = server;
  const isDropped = additions.droppedScopes.of(client, audience);
  return signable(
    requireScope(parameters, client, { resources, audience, isDropped }),
    client,
    isDropped,
    server,
  );
}

function refuseIndirect(client: Client, refusals: readonly IndirectRefusal[]): void {
  const error = getIndirectRefusal(client, refusals);
  if (error !== null) throw error;
}

function requireGrant(client: Client): void {
  if (!client.grants.includes('authorization_code')) {
    throw new OAuthError(
      'unauthorized_client',
      'The client is not registered for the grant authorization_code.',
      `the client is registered only for ${client.grants.join(', ')}`,
    );
  }
}

interface ScopeRules {
  readonly resources: Resources;
  readonly audience: string | null;
  readonly isDropped: (name: string) => boolean;
}

const REFUSAL = {
  refusal: 'The scope is empty, unknown, or not one that this client may ask for.',
  detail: 'these scopes are unknown, or not registered for this client',
};

function refusalAt(audience: string | null): typeof REFUSAL {
  return {
    refusal:
      'The scope is empty, unknown, or not one that this client may ask for at this resource.',
    detail:
      'these scopes are unknown, not registered for this client, or not scopes of the requested ' +
      'resource, ' +
      quotedAudience(audience),
  };
}

/**
 * Returns the requested scopes, without the ones that the server drops for this client. Without
 * `scope`, returns all scopes of the client at this resource, except `openid`.
 */
function requireScope(
  parameters: Parameters,
  client: Client,
  { resources, audience, isDropped }: ScopeRules,
): readonly string[] {
  const catalog = resources.scopesOf(audience);
  const offered = client.scopes.filter((name) => catalog.has(name));
  return requireScopes(parameters.get('scope'), {
    available: offered,
    omitted: offered.filter((name) => name !== 'openid'),
    isDropped,
    ...(resources.all.length === 0 ? REFUSAL : refusalAt(audience)),
  });
}

/**
 * Removes `openid` or refuses the request if no key can sign the ID token. This happens before the
 * consent page: users must not allow what the server cannot issue.
 */
async function signable(
  scopes: readonly string[],
  { idTokenSignedResponseAlg: algorithm }: Client,
  isDropped: (name: string) => boolean,
  { keys, config }: Server,
): Promise<readonly string[]> {
  if (!scopes.includes('openid') || (await keys.active(algorithm)) !== null) return scopes;
  const remaining = scopes.filter((name) => name !== 'openid');
  if (remaining.length > 0 && isDropped('openid')) return remaining;
  const { key, command } = missingKey(algorithm);
  throw new OAuthError(
    'invalid_scope',
    `The scope openid cannot be granted: the server has ${key}.`,
    `there is ${key} in ${config.key_path}; to create one, run ${command}`,
  );
}
