import type { PasswordHasher } from '../contracts/password-hasher.ts';
import type { Audit } from './audit.ts';
import { RegistrationError } from './errors.ts';
import { redirectUriProblem } from './redirect-uris.ts';
import { IDENTITY_SCOPES, OFFLINE_ACCESS, type ScopeCatalog } from './scopes.ts';
import type { Client, Grant, Store } from './store/store.ts';
import { randomIdentifier, randomToken } from './crypto.ts';

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
}

/** A new client, and its secret: shown once, kept only as a hash; null for a public client. */
export interface RegisteredClient {
  /** As it is kept. */
  readonly client: Client;
  /** 256 random bits, base64url; null for a public client. */
  readonly secret: string | null;
}

/** The clients of this server, for console commands and plugins. */
export interface Clients {
  /** Registers a client. Throws a RegistrationError that says what is wrong. */
  create(registration: ClientRegistration): Promise<RegisteredClient>;
  /**
   * Registers a client unless a living one is there, which it answers then, without a secret: of several calls at once, also of
   * other processes, one registers. Throws a RegistrationError that says what is wrong.
   */
  createUnless(
    registration: ClientRegistration,
    isThere: (client: Client) => boolean,
  ): Promise<RegisteredClient & { readonly created: boolean }>;
  /** Null for an unknown id; also a revoked client is found. */
  find(clientId: string): Promise<Client | null>;
  /** Oldest first. */
  list(): Promise<readonly Client[]>;
  /**
   * Gives the client a new secret; the id and the issued tokens are unaffected. The secret before is accepted for so many
   * seconds more; with 0 it ends at once. Throws a RegistrationError for a client without a secret.
   */
  rotateSecret(clientId: string, overlap?: number): Promise<RotatedSecret>;
  /** Ends the client and every token it holds. Throws a RegistrationError when there is no such living client. */
  revoke(clientId: string): Promise<void>;
}

/** A new secret: shown once, kept only as a hash. */
export interface RotatedSecret {
  /** 256 random bits, base64url. */
  readonly secret: string;
  /** Until when the secret before is accepted, milliseconds since 1970; null when it has ended. */
  readonly previousExpiresAt: number | null;
}

/** How long the secret before a rotation is accepted unless said otherwise: one day, in seconds. */
export const DEFAULT_OVERLAP = 86_400;
/** The longest overlap, in seconds: a year. */
const LONGEST_OVERLAP = 365 * 86_400;

export interface ClientsOptions {
  readonly store: Store;
  readonly scopes: ScopeCatalog;
  readonly passwordHasher: PasswordHasher;
  readonly clock: () => number;
  readonly audit: Audit;
}

const GRANTS: ReadonlySet<string> = new Set<Grant>([
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'introspection',
]);
const CODE_GRANTS: readonly Grant[] = ['authorization_code', 'refresh_token'];
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

export function createClients({ store, scopes, passwordHasher, clock, audit }: ClientsOptions): Clients {
  const find = async (clientId: string) => (CLIENT_ID.test(clientId) ? store.findClient(clientId) : null);

  async function requireLiving(clientId: string): Promise<void> {
    const client = await find(clientId);
    if (client === null) throw new RegistrationError('No client has this id; see oauth:client:list');
    if (client.revokedAt !== null) throw new RegistrationError('The client was revoked before');
  }

  async function made(registration: ClientRegistration): Promise<RegisteredClient> {
    const checked = checkRegistration(registration, scopes);
    const secret = checked.public ? null : randomToken();
    const client: Client = {
      ...checked,
      id: randomIdentifier(),
      secretHash: secret === null ? null : await passwordHasher.hash(secret),
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: clock(),
      revokedAt: null,
    };
    return { client, secret };
  }

  return {
    async create(registration) {
      const { client, secret } = await made(registration);
      await store.insertClient(client);
      await audit({ type: 'client_registered', clientId: client.id });
      return { client, secret };
    },
    async createUnless(registration, isThere) {
      const { client, secret } = await made(registration);
      const existing = await store.insertClientUnless(
        client,
        (each) => each.revokedAt === null && isThere(each),
      );
      if (existing !== null) return { client: existing, secret: null, created: false };
      await audit({ type: 'client_registered', clientId: client.id });
      return { client, secret, created: true };
    },
    find,
    list: () => store.listClients(),
    async rotateSecret(clientId, overlap = DEFAULT_OVERLAP) {
      if (!Number.isInteger(overlap) || overlap < 0 || overlap > LONGEST_OVERLAP) {
        throw new RegistrationError(`The overlap must be 0 to ${LONGEST_OVERLAP} seconds`);
      }
      await requireLiving(clientId);
      const secret = randomToken();
      const previousExpiresAt = overlap === 0 ? null : clock() + overlap * 1000;
      if (!(await store.rotateSecret(clientId, await passwordHasher.hash(secret), previousExpiresAt))) {
        throw new RegistrationError('A public client has no secret to rotate');
      }
      await audit({ type: 'secret_rotated', clientId, previousExpiresAt });
      return { secret, previousExpiresAt };
    },
    async revoke(clientId) {
      await requireLiving(clientId);
      if (await store.revokeClient(clientId, clock())) await audit({ type: 'client_revoked', clientId });
    },
  };
}

type CheckedRegistration = Pick<Client, 'name' | 'redirectUris' | 'scopes' | 'grants' | 'public'>;

function checkRegistration(registration: ClientRegistration, catalog: ScopeCatalog): CheckedRegistration {
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
  return { name, redirectUris, scopes, grants, public: isPublic };
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new RegistrationError('The client needs a name that people will recognise');
  if (trimmed.length > 100) throw new RegistrationError('The name is longer than 100 characters');
  // Control and direction-changing characters could make one name look like another on the consent screen.
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
  // It needs no registering and is none to keep; who names it means no harm.
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
