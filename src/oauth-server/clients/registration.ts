import { RegistrationError } from '../errors.ts';
import { IDENTITY_SCOPES, OFFLINE_ACCESS, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Grant, SigningAlgorithm } from '../store/store.ts';
import { DEFAULT_ALGORITHM, missingKey, SIGNING_ALGORITHMS, type KeyRing } from '../keys.ts';
import { redirectUriProblem } from './redirect-uris.ts';

/** An application that is to be registered. */
export interface ClientRegistration {
  /** Shown to people on the consent screen; 1 to 100 characters. */
  readonly name: string;
  /** Matched character by character. */
  readonly redirectUris?: readonly string[];
  /** What the client may ask for; each is built in or one of `oauth_server:scopes`. */
  readonly scopes?: readonly string[];
  /**
   * Without a grant type here, a client with a redirect URI may use `authorization_code` and `refresh_token`. The right
   * `introspection` stands beside the grant types and takes none away.
   */
  readonly grants?: readonly string[];
  /** For an application that cannot keep a secret. */
  readonly public?: boolean;
  /**
   * `RS256`, `ES256` or `EdDSA` (Ed25519): what its ID tokens are signed with, RS256 unless given. The server must have a key
   * for it (`oauth:keys:generate --alg`), and the client the scope `openid`.
   */
  readonly idTokenSignedResponseAlg?: string;
}

const GRANTS: ReadonlySet<string> = new Set<Grant>([
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'introspection',
]);
const CODE_GRANTS: readonly Grant[] = ['authorization_code', 'refresh_token'];

/** The fields of a client that its registration determines. */
export type CheckedRegistration = Pick<
  Client,
  'name' | 'redirectUris' | 'scopes' | 'grants' | 'public' | 'idTokenSignedResponseAlg'
>;

/** Checks a registration, and completes it; throws a RegistrationError that says what is wrong. */
export async function checkRegistration(
  registration: ClientRegistration,
  catalog: ScopeCatalog,
  keys: Pick<KeyRing, 'all'>,
): Promise<CheckedRegistration> {
  const name = checkName(registration.name);
  const redirectUris = checkRedirectUris(registration.redirectUris ?? []);
  const scopes = checkScopes(registration.scopes ?? [], catalog);
  const isPublic = registration.public ?? false;
  const grants = checkGrants(registration.grants ?? [], redirectUris, isPublic);
  const grantTypes = grants.filter((grant) => grant !== 'introspection');
  if (grantTypes.length > 0 && scopes.length === 0) {
    throw new RegistrationError('The client has no scope; name at least one with --scope');
  }
  if (grantTypes.join() === 'client_credentials') {
    const personal = scopes.find((scope) => Object.hasOwn(IDENTITY_SCOPES, scope));
    if (personal !== undefined) {
      throw new RegistrationError(
        `The scope ${personal} is about a person; a client-credentials token has none`,
      );
    }
  }
  const idTokenSignedResponseAlg = await checkAlgorithm(registration, { scopes, grants }, keys);
  return { name, redirectUris, scopes, grants, public: isPublic, idTokenSignedResponseAlg };
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new RegistrationError('The client needs a name that people will recognise');
  if (trimmed.length > 100) throw new RegistrationError('The name is longer than 100 characters');
  // Control and bidirectional characters could make one name look like another on the consent screen.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw new RegistrationError('The name contains control or invisible characters');
  }
  return trimmed;
}

function checkRedirectUris(uris: readonly string[]): readonly string[] {
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== null) throw new RegistrationError(`The redirect URI ${JSON.stringify(uri)} ${problem}`);
  }
  return [...new Set(uris)];
}

function checkScopes(requested: readonly string[], catalog: ScopeCatalog): readonly string[] {
  // Every client may send it, and it grants nothing: it is accepted here, and not kept.
  const names = requested.filter((name) => name !== OFFLINE_ACCESS);
  const unknown = names.find((name) => !catalog.has(name));
  if (unknown !== undefined) {
    const offered = [...catalog.keys()].join(', ');
    throw new RegistrationError(
      `The scope ${JSON.stringify(unknown)} is unknown; this server offers ${offered}`,
    );
  }
  return [...new Set(names)];
}

function checkGrants(
  requested: readonly string[],
  redirectUris: readonly string[],
  isPublic: boolean,
): readonly Grant[] {
  const unknown = requested.find((grant) => !GRANTS.has(grant));
  if (unknown !== undefined) {
    throw new RegistrationError(
      `The grant ${JSON.stringify(unknown)} is unknown; it is one of ${[...GRANTS].join(', ')}`,
    );
  }
  const named = new Set(requested as readonly Grant[]);
  const choosesTypes = [...named].some((grant) => grant !== 'introspection');
  if (!choosesTypes && redirectUris.length > 0) for (const grant of CODE_GRANTS) named.add(grant);

  if (named.size === 0) {
    throw new RegistrationError(
      'The client may do nothing; give it a --redirect, or --grant=client_credentials',
    );
  }
  for (const grant of ['client_credentials', 'introspection'] as const) {
    if (isPublic && named.has(grant)) {
      throw new RegistrationError(
        `A public client cannot have the grant ${grant}: it has no secret to prove itself with`,
      );
    }
  }
  if (named.has('refresh_token') && !named.has('authorization_code')) {
    throw new RegistrationError('The grant refresh_token needs authorization_code beside it');
  }
  if (named.has('authorization_code') && redirectUris.length === 0) {
    throw new RegistrationError('The grant authorization_code needs a --redirect');
  }
  if (!named.has('authorization_code') && redirectUris.length > 0) {
    throw new RegistrationError(
      'A --redirect is only for the grant authorization_code; add that grant, or leave it out',
    );
  }
  return [...GRANTS].filter((grant): grant is Grant => named.has(grant as Grant));
}

async function checkAlgorithm(
  { idTokenSignedResponseAlg: requested }: ClientRegistration,
  { scopes, grants }: Pick<Client, 'scopes' | 'grants'>,
  keys: Pick<KeyRing, 'all'>,
): Promise<SigningAlgorithm> {
  if (requested === undefined) return DEFAULT_ALGORITHM;
  const algorithm = SIGNING_ALGORITHMS.find((each) => each === requested);
  if (algorithm === undefined) {
    throw new RegistrationError(
      `The ID token algorithm ${JSON.stringify(requested)} is unknown; it is one of ${SIGNING_ALGORITHMS.join(', ')}`,
    );
  }
  if (!scopes.includes('openid') || !grants.includes('authorization_code')) {
    throw new RegistrationError(
      'An ID token needs the scope openid and a --redirect; give the client both, or leave --id-token-alg out',
    );
  }
  if (!(await keys.all()).some((key) => key.algorithm === algorithm)) {
    const { key, command } = missingKey(algorithm);
    throw new RegistrationError(`The server has ${key}; run npx portico ${command} first`);
  }
  return algorithm;
}
