import {
  RegistrationError,
  type Client,
  type ClientRegistration,
  type PasswordHasher,
  type Server,
} from 'portico';
import {
  checkNewClient,
  hasExpired,
  isClientUrl,
  newClient,
  randomToken,
  type ClientDemand,
  type ClientMetadata,
} from 'portico/extension';
import type { ClientImport, ClientImportOptions, ImportedClient } from './contract.ts';
import { readClientId, readClientRecord, type ClientRecord } from './client-records.ts';
import {
  createHashReader,
  plainSecret,
  type HashReader,
  type ImportedSecret,
} from './secret-hashes.ts';

/**
 * The maximum number of records in one import. They are written in one transaction, and a larger
 * one would block other writes for more than a few seconds.
 */
const MOST = 1000;

/** A record that can be imported. */
interface Accepted {
  readonly client: Omit<Client, 'secretHash'>;
  /** The client's secret, or null if the client has none. */
  readonly secret: ImportedSecret | null;
  /**
   * A new secret for a client whose record has no secret. Null if the record has a secret, or if
   * the client needs none.
   */
  readonly newSecret: string | null;
  /** The values of the metadata fields that features add. */
  readonly metadata: FurtherValues;
  readonly changes: readonly string[];
}

type FurtherValues = NonNullable<ClientRegistration['metadata']>;

type Judged = Pick<ImportedClient, 'outcome' | 'problem' | 'changes'> & {
  readonly accepted: Accepted | null;
};

export class ClientImporter {
  readonly #server: Server;
  readonly #hasher: PasswordHasher;
  readonly #options: ClientImportOptions;

  /** `hasher` is the host's password hasher, extended to verify imported hashes. */
  constructor(server: Server, hasher: PasswordHasher, options: ClientImportOptions) {
    this.#server = server;
    this.#hasher = hasher;
    this.#options = options;
  }

  async import(records: readonly unknown[]): Promise<ClientImport> {
    if (records.length > MOST) {
      throw new RegistrationError(
        `The file has ${records.length} clients; at most ${MOST} can be imported at once. ` +
          'Split the file',
      );
    }
    const { dryRun = false, report } = this.#options;
    const judged: Judged[] = [];
    const seen = new Set<string>();
    const readHash = await this.#hashReader();
    for (const record of records) {
      judged.push(await this.#judge(record, seen, readHash));
      report?.(judged.length);
    }
    const isRefused = judged.some(({ outcome }) => outcome === 'refused');
    const accepted = judged.flatMap((each) => (each.accepted === null ? [] : [each.accepted]));
    const written = !dryRun && !isRefused && accepted.length > 0;
    if (written) await this.#write(accepted);
    return {
      written,
      clients: judged.map(({ outcome, problem, changes, accepted: own }, at) => ({
        record: at + 1,
        clientId: readClientId(records[at]),
        outcome,
        problem,
        changes,
        secret: written ? (own?.newSecret ?? null) : null,
      })),
    };
  }

  #hashReader(): Promise<HashReader> {
    const { host, config } = this.#server;
    return createHashReader(host.passwordHasher, config.imported_pbkdf2_iterations ?? 0);
  }

  async #write(accepted: readonly Accepted[]): Promise<void> {
    const { store, audit, furtherMetadata } = this.#server;
    const { by, report } = this.#options;
    const clients: Client[] = [];
    for (const { client, secret } of accepted) {
      clients.push({ ...client, secretHash: secret === null ? null : await secret.hash() });
      report?.(clients.length);
    }
    const further = new Map(accepted.map(({ client, metadata }) => [client.id, metadata]));
    const addition = furtherMetadata.writingNew(further);
    const taken = await store.clients.insertClients(clients, addition);
    if (taken !== null) {
      throw new RegistrationError(
        `The client ${taken} was registered during the import, so nothing was imported. Run ` +
          'the command again',
      );
    }
    const acting = by === undefined ? {} : { by };
    for (const { id: clientId, registeredBy } of clients)
      await audit({ type: 'client_registered', clientId, registeredBy, ...acting });
  }

  async #judge(record: unknown, seen: Set<string>, readHash: HashReader): Promise<Judged> {
    const { store, demands, clock, furtherMetadata } = this.#server;
    const { rights } = this.#server.grantTypes();
    const offered = { furtherFields: furtherMetadata.fields, demands, rights };
    try {
      const read = readClientRecord(record, clock(), offered);
      const accepted = await this.#accept(read, seen, readHash);
      const { changes } = accepted;
      // Also find expired clients, because their rows still use their ids.
      const existing = await store.clients.findClient(accepted.client.id);
      if (existing === null) return { outcome: 'imported', problem: null, changes, accepted };
      const metadata = await furtherMetadata.find(existing.id);
      const compared = { ...accepted, metadata: this.#settable(accepted.metadata) };
      await requireSame({ client: existing, metadata }, compared, demands, clock());
      return { outcome: 'unchanged', problem: null, changes, accepted: null };
    } catch (error) {
      if (!(error instanceof RegistrationError)) throw error;
      return { outcome: 'refused', problem: error.message, changes: [], accepted: null };
    }
  }

  /** Returns only the metadata fields that an operator can change with `oauth:client:update`. */
  #settable(metadata: FurtherValues): FurtherValues {
    const { fields } = this.#server.furtherMetadata;
    const isSettable = (name: string) =>
      fields.some((field) => field.name === name && field.option !== undefined);
    return Object.fromEntries(Object.entries(metadata).filter(([name]) => isSettable(name)));
  }

  async #accept(read: ClientRecord, seen: Set<string>, readHash: HashReader): Promise<Accepted> {
    const { clientId, changes } = read;
    if (seen.has(clientId)) throw new RegistrationError('an earlier record has the same client_id');
    seen.add(clientId);
    if (isClientUrl(clientId)) {
      throw new RegistrationError(
        'client_id is a URL, but Portico treats URLs as addresses of client documents; use ' +
          'another id',
      );
    }
    const checked = await checkNewClient(read.registration, this.#server);
    const newSecret = needsNewSecret(read, checked, this.#options) ? randomToken() : null;
    const secret =
      newSecret === null
        ? readSecret(read, readHash, this.#hasher)
        : plainSecret(newSecret, this.#hasher);
    if (secret !== null && (await secret.isOfNothing())) throw new RegistrationError(OF_NOTHING);
    const begun = { id: clientId, registeredBy: 'operator', secretHash: null } as const;
    const createdAt = read.createdAt ?? this.#server.clock();
    const client = newClient(checked, { ...begun, createdAt });
    const { metadata = {} } = read.registration;
    return { client, secret, newSecret, metadata, changes };
  }
}

const OF_NOTHING =
  'client_secret_hash is the hash of an empty secret; remove it and use --new-secrets';

function needsNewSecret(
  { secret, secretHash }: ClientRecord,
  checked: ClientMetadata,
  { newSecrets = false }: ClientImportOptions,
): boolean {
  if (checked.public || checked.keys !== null || secret !== null || secretHash !== null)
    return false;
  if (newSecrets) return true;
  throw new RegistrationError(
    'client_secret and client_secret_hash are missing; add one of them, or use --new-secrets',
  );
}

function readSecret(
  { secret, secretHash }: ClientRecord,
  readHash: HashReader,
  hasher: PasswordHasher,
): ImportedSecret | null {
  if (secret !== null && secretHash !== null) {
    throw new RegistrationError(
      'the record has both client_secret and client_secret_hash; remove one of them',
    );
  }
  if (secret !== null) return plainSecret(secret, hasher);
  return secretHash === null ? null : readHash(secretHash);
}

/**
 * Throws a RegistrationError if the existing client differs from the record, was revoked, or was
 * not registered by an operator. An import never changes an existing client.
 */
async function requireSame(
  { client: existing, metadata: kept }: Pick<Accepted, 'metadata'> & { readonly client: Client },
  { client, secret, newSecret, metadata }: Accepted,
  demands: readonly ClientDemand[],
  now: number,
): Promise<void> {
  if (existing.revokedAt !== null)
    throw new RegistrationError(
      'a client with this id was revoked, so it cannot be imported again; use another id',
    );
  if (existing.registeredBy !== 'operator') {
    throw new RegistrationError(
      hasExpired(existing, now)
        ? 'a client with this id registered itself and has expired. Wait an hour, run ' +
            'oauth:prune to remove it, and import again'
        : 'a client with this id already registered itself; use another id',
    );
  }
  const compared = [...COMPARED, ...demands.map(comparedDemand)];
  const differing = compared
    .filter(([, of]) => JSON.stringify(of(existing)) !== JSON.stringify(of(client)))
    .map(([name]) => name)
    .concat(differingFurther(kept, metadata));
  if (differing.length > 0) {
    throw new RegistrationError(
      `a client with this id already exists, with a different ${differing.join(', ')}; to ` +
        'change it, use oauth:client:update',
    );
  }
  if (secret === null || newSecret !== null || existing.secretHash === null) return;
  if (!(await secret.isKept(existing.secretHash))) {
    throw new RegistrationError(
      'a client with this id already exists, with a different secret; to replace the secret, ' +
        'use oauth:client:rotate-secret',
    );
  }
}

/**
 * Returns the names of the metadata fields whose values in the record differ from the existing
 * client's values.
 */
function differingFurther(existing: FurtherValues, record: FurtherValues): readonly string[] {
  const written = (values: readonly string[] = []) => JSON.stringify(values.toSorted());
  return Object.entries(record).flatMap(([name, values]) =>
    written(existing[name]) === written(values) ? [] : [name],
  );
}

/** A field to compare: its name in RFC 7591, and a function that reads its value from a client. */
type Compared = readonly [name: string, of: (client: Omit<Client, 'secretHash'>) => unknown];

function comparedDemand({ metadata, field }: ClientDemand): Compared {
  return [metadata, (client) => client[field]];
}

/** The fields to compare. Lists whose order has no meaning are sorted first. */
const COMPARED: readonly Compared[] = [
  ['client_name', ({ name }) => name],
  ['redirect_uris', ({ redirectUris }) => redirectUris.toSorted()],
  ['scope', ({ scopes }) => scopes.toSorted()],
  ['grant_types', ({ grants }) => grants],
  ['token_endpoint_auth_method', ({ public: isPublic, keys }) => [isPublic, keys === null]],
  ['application_type', ({ applicationType }) => applicationType],
  ['jwks', ({ keys }) => [keys?.jwks, keys?.jwksUri, keys?.algorithm, keys?.workload]],
  ['id_token_signed_response_alg', ({ idTokenSignedResponseAlg }) => idTokenSignedResponseAlg],
];
