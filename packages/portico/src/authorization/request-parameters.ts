import { OAuthError } from '../errors.ts';
import { isCodeChallenge } from '../grants/pkce.ts';
import type { Parameters } from '../parameters.ts';
import { quoted } from '../quoting.ts';
import type { Resources } from '../tokens/resource-indicators.ts';
import { sentHints, type Hint } from './sign-in-hints.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * A request may contain each of these parameters only once. `client_id`, `redirect_uri` and
 * `resource` are not in this list. They have their own errors.
 */
const SINGLE_PARAMETERS = [
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'request',
  'request_uri',
] as const;

/**
 * Throws if the request repeats one of these parameters, or one of the `further` ones of features.
 */
export function refuseRepeatedParameters(parameters: Parameters, further: readonly string[]): void {
  for (const name of singleParameters(further)) parameters.get(name);
}

/** Without duplicates: a feature may list a parameter that is already in `SINGLE_PARAMETERS`. */
const singleParameters = (further: readonly string[]): readonly string[] => [
  ...new Set([...SINGLE_PARAMETERS, ...further]),
];

/** Throws if the request contains a request object (OpenID Connect Core section 3.1.2.6). */
export function refuseRequestObjects(parameters: Parameters): void {
  if (parameters.has('request')) {
    throw new OAuthError('request_not_supported', 'Request objects are not supported.');
  }
  if (parameters.has('request_uri')) {
    throw new OAuthError('request_uri_not_supported', 'Request objects are not supported.');
  }
}

export function requireResponseType(parameters: Parameters): void {
  const responseType = parameters.require('response_type');
  if (responseType !== 'code') {
    const detail = `the response_type is ${quoted(responseType)}`;
    throw new OAuthError('unsupported_response_type', 'The only response_type is code.', detail);
  }
}

export function promptValues(prompt: string | undefined): ReadonlySet<string> {
  return new Set((prompt ?? '').split(' ').filter((value) => value !== ''));
}

/** Returns true if `prompt` is exactly `none`: the client wants a response without any page. */
export function isSilent(parameters: Parameters): boolean {
  const values = promptValues(parameters.get('prompt'));
  return values.size === 1 && values.has('none');
}

/**
 * Refuses `prompt=none`. Without a feature that replaces this check, the server always asks for
 * consent.
 */
export function refuseSilent(parameters: Parameters): void {
  if (!isSilent(parameters)) return;
  throw new OAuthError(
    'interaction_required',
    'Consent is always asked for, so prompt=none cannot succeed.',
  );
}

/**
 * Throws if `prompt` contains anything but `consent`, unless it is exactly `none` (OpenID Connect
 * Core section 3.1.2.1). `refuseSilent` handles `none`.
 */
export function requirePrompt(parameters: Parameters): void {
  const prompt = parameters.get('prompt') ?? '';
  if (isSilent(parameters)) return;
  const values = new Set(promptValues(prompt));
  values.delete('consent');
  if (values.has('login')) {
    throw new OAuthError(
      'invalid_request',
      'prompt=login cannot be honoured: re-authentication cannot be forced.',
    );
  }
  if (values.size > 0) {
    const detail = `the prompt is ${quoted(prompt)}`;
    throw new OAuthError(
      'invalid_request',
      'The only values of prompt are consent and none, apart.',
      detail,
    );
  }
}

export function refuseMaxAge(parameters: Parameters): void {
  if (parameters.has('max_age')) {
    throw new OAuthError(
      'invalid_request',
      'max_age cannot be honoured: the last authentication time is not recorded.',
    );
  }
}

/** Returns the code challenge (RFC 7636 section 4.3). Throws if it is missing or invalid. */
export function requirePkce(parameters: Parameters): string {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined || method !== 'S256') {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: a code_challenge with code_challenge_method=S256.',
      pkceProblem(challenge, method),
    );
  }
  if (!isCodeChallenge(challenge)) {
    throw new OAuthError(
      'invalid_request',
      'The code_challenge is not a base64url-encoded SHA-256 hash.',
    );
  }
  return challenge;
}

function pkceProblem(challenge: string | undefined, method: string | undefined): string {
  if (challenge === undefined) return 'no code_challenge was sent';
  return method === undefined
    ? 'no code_challenge_method was sent, so the method is plain'
    : `the code_challenge_method is ${quoted(method)}`;
}

/**
 * Returns the thumbprint of the key that the client must prove when it exchanges the code. Returns
 * null if the request names no key. Throws if the thumbprint is invalid.
 */
export function requireThumbprint(parameters: Parameters, keyParameter: string): string | null {
  const thumbprint = parameters.get(keyParameter) ?? null;
  if (thumbprint === null || /^[A-Za-z0-9_-]{43}$/.test(thumbprint)) return thumbprint;
  throw new OAuthError(
    'invalid_request',
    `The ${keyParameter} is not a base64url-encoded SHA-256 hash.`,
  );
}

/**
 * Returns the requested resource (RFC 8707 section 2.1), or else the server's default, which can be
 * null. Throws `invalid_target` for an unknown resource, or for several resources.
 */
export function requireResource(parameters: Parameters, resources: Resources): string | null {
  if (parameters.isRepeated('resource')) {
    throw new OAuthError(
      'invalid_target',
      'More than one resource is named; a grant has one target.',
    );
  }
  return resources.require(parameters.get('resource'));
}

/**
 * Returns the parameters that the checks read, and the hints for pages. Keeps two values of a
 * repeated parameter, so that the checks still refuse it.
 */
export function sentParameters(
  parameters: Parameters,
  { further, hints }: { readonly further: readonly string[]; readonly hints: readonly Hint[] },
): SentParameters {
  const checked = ['client_id', 'redirect_uri', 'resource', ...singleParameters(further)].flatMap(
    (name) => {
      const values = parameters.all(name).slice(0, 2);
      return values.length === 1 && values[0] === ''
        ? []
        : values.map((value) => [name, value] as const);
    },
  );
  return [...checked, ...sentHints(parameters, hints)];
}
