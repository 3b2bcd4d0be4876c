import type { Database, SqlConnection } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { OrderedBatch } from './batches.ts';
import type { ApplicationType, ClientAddition } from './client.ts';
import { FurtherMetadataRecords } from './sql/further-metadata.ts';

export type FieldShape = 'texts' | 'text' | 'flag';

/** A client metadata field that a feature adds (RFC 7591 section 2). */
export interface MetadataField {
  /** For example `post_logout_redirect_uris`. */
  readonly name: string;
  /** One value's name in messages, for example `post-logout redirect URI`. */
  readonly called: string;
  /** Defaults to a list of strings. */
  readonly shape?: FieldShape;
  /**
   * The option of `oauth:client:create` and `oauth:client:update` that sets the field. It can be
   * repeated, and takes no value for a flag. Without it, these commands cannot set the field.
   */
  readonly option?: { readonly flag: string; readonly says: string };
  /**
   * Which clients that register themselves can have the field. By default, all of them can.
   *
   * - `with-token`: only clients with an initial access token. Without this limit, anyone could
   *   make this server send requests to other servers. For a client without a token, the server
   *   does not store the field.
   * - `never`: no client that registers itself.
   */
  readonly selfRegistered?: 'with-token' | 'never';
  /** The maximum number of values for one client. */
  readonly most: number;
  /**
   * Returns why a client cannot have this value, or null. The result continues the sentence "The
   * {called} {value} …".
   */
  problem(value: string, applicationType: ApplicationType, rules: UrlRules): string | null;
}

export interface UrlRules {
  /** True if this server may send requests to any port. For development. */
  readonly anyPort: boolean;
}

/** The stored value of a flag that is set. */
export const MARKED = 'true';

/** By field name. */
export type FurtherValues = Readonly<Record<string, readonly string[]>>;

/** Returns the values in their JSON form (RFC 7591 section 2). */
export function furtherJson(
  fields: readonly MetadataField[],
  values: FurtherValues,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, texts]): readonly (readonly [string, unknown])[] => {
      const { shape = 'texts' } = fields.find((each) => each.name === name) ?? {};
      if (shape === 'texts') return [[name, texts]];
      if (shape === 'text') return [[name, texts[0] ?? null]];
      return texts.includes(MARKED) ? [[name, true]] : [];
    }),
  );
}

/** The client metadata fields of features, and the values of clients. */
export class FurtherMetadata {
  /** The fields of all features that are turned on. */
  readonly fields: readonly MetadataField[];
  readonly #rules: UrlRules;
  readonly #records: FurtherMetadataRecords;

  /** Only Portico calls this constructor. Use `furtherMetadata` of the server. */
  constructor(database: Database, fields: readonly MetadataField[], rules: UrlRules) {
    this.fields = fields;
    this.#rules = rules;
    this.#records = new FurtherMetadataRecords(database);
  }

  /** Omits fields without values. Inside a transaction, pass its connection. */
  async find(clientId: string, connection?: SqlConnection): Promise<FurtherValues> {
    if (this.fields.length === 0) return {};
    return this.#offered(await this.#records.find(clientId, connection));
  }

  /**
   * Returns the values by client id. Omits clients without values. Inside a transaction, pass its
   * connection.
   */
  async findAll(
    clientIds: readonly string[],
    connection?: SqlConnection,
  ): Promise<ReadonlyMap<string, FurtherValues>> {
    if (this.fields.length === 0) return new Map();
    const stored = await this.#records.findAll(clientIds, connection);
    return new Map(stored.map(([id, values]) => [id, this.#offered(values)]));
  }

  /**
   * Checks values before a client is written. Throws a RegistrationError for an unknown field or
   * too many values. Also throws if a client of this type cannot have one of the values.
   */
  check(values: FurtherValues, applicationType: ApplicationType): void {
    for (const [name, given] of Object.entries(values)) {
      const field = this.fields.find((each) => each.name === name);
      if (field === undefined)
        throw new RegistrationError(`This server does not support the field ${name}`);
      if (given.length > field.most)
        throw new RegistrationError(`A client can have at most ${field.most} values of ${name}`);
      for (const value of given) {
        const problem = field.problem(value, applicationType, this.#rules);
        if (problem !== null)
          throw new RegistrationError(`The ${field.called} ${quotedPublic(value)} ${problem}`);
      }
    }
  }

  /**
   * Reads the first `limit` rows after the client id `after`, and removes those of clients that no
   * longer exist.
   */
  removeLeft(limit: number, after: string): Promise<OrderedBatch> {
    return this.#records.removeLeft(limit, after);
  }

  #offered(stored: FurtherValues): FurtherValues {
    return Object.fromEntries(
      this.fields.flatMap(({ name }) => {
        const values = Object.hasOwn(stored, name) ? stored[name] : undefined;
        return values === undefined || values.length === 0 ? [] : [[name, values] as const];
      }),
    );
  }

  /**
   * Returns a function that writes these values in the client's transaction. Other fields stay the
   * same. Returns undefined without values. Call `check` first.
   */
  writing(clientId: string, values: FurtherValues = {}): ClientAddition | undefined {
    if (Object.keys(values).length === 0) return undefined;
    return (connection) => this.#records.write(connection, clientId, values);
  }

  /**
   * Returns a function that writes the values of new clients, by client id, in the clients'
   * transaction. It also removes what earlier clients with these ids left behind. Returns undefined
   * if the server has no fields. Call `check` first.
   *
   * Only clients whose ids an operator chooses need this method. Other ids are random.
   */
  writingNew(clients: ReadonlyMap<string, FurtherValues>): ClientAddition | undefined {
    if (this.fields.length === 0) return undefined;
    return (connection) => this.#records.writeNew(connection, [...clients]);
  }
}

/** Returns the names (`called`) of the client's flags that only an operator can set. */
export function marksOf(
  fields: readonly MetadataField[],
  values: FurtherValues,
): readonly string[] {
  return fields.flatMap(({ name, called, selfRegistered }) =>
    selfRegistered === 'never' && values[name]?.includes(MARKED) === true ? [called] : [],
  );
}
