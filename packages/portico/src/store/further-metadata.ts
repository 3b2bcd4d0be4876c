import type { Database, SqlConnection } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { Batch } from './batches.ts';
import type { ApplicationType, ClientAddition } from './client.ts';
import { FurtherMetadataRecords } from './sql/further-metadata.ts';

/** The type of a client metadata field in JSON. */
export type FieldShape = 'texts' | 'text' | 'flag';

/** A client metadata field that a feature adds (RFC 7591 section 2). */
export interface MetadataField {
  /** The field's name, for example `post_logout_redirect_uris`. */
  readonly name: string;
  /** The term for one value in messages, for example `post-logout redirect URI`. */
  readonly called: string;
  /** The field's type in JSON. Defaults to a list of strings. */
  readonly shape?: FieldShape;
  /**
   * The option of `oauth:client:create` and `oauth:client:update` that sets the field. The option
   * can be repeated. For a flag, it takes no value. If this property is missing, these commands
   * cannot set the field.
   */
  readonly option?: { readonly flag: string; readonly says: string };
  /**
   * Which clients that register themselves can have the field. By default, all of them can.
   *
   * - `with-token`: only clients that register with an initial access token. Without this limit,
   *   anyone could make this server send requests to other servers. If a client registers without a
   *   token, the server does not store the field.
   * - `never`: no client that registers itself.
   */
  readonly selfRegistered?: 'with-token' | 'never';
  /** The maximum number of values for one client. */
  readonly most: number;
  /**
   * Returns the reason why a client cannot have this value, or null if it can have the value. The
   * result continues the sentence "The {called} {value} …".
   */
  problem(value: string, applicationType: ApplicationType, rules: UrlRules): string | null;
}

/** Rules for URLs that depend on the server's environment. */
export interface UrlRules {
  /** Whether this server may send requests to URLs with any port. Intended for development. */
  readonly anyPort: boolean;
}

/** The stored value of a flag that is set. */
export const MARKED = 'true';

/** The values of metadata fields, by field name. */
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

/** The client metadata fields that features add, and the stored values of clients. */
export class FurtherMetadata {
  /** The fields of all features that are turned on. */
  readonly fields: readonly MetadataField[];
  readonly #rules: UrlRules;
  readonly #records: FurtherMetadataRecords;

  /** Portico calls this constructor. Use `furtherMetadata` of the server instead. */
  constructor(database: Database, fields: readonly MetadataField[], rules: UrlRules) {
    this.fields = fields;
    this.#rules = rules;
    this.#records = new FurtherMetadataRecords(database);
  }

  /**
   * Returns a client's values. Omits fields without values. Inside a transaction, pass its
   * connection.
   */
  async find(clientId: string, connection?: SqlConnection): Promise<FurtherValues> {
    if (this.fields.length === 0) return {};
    return this.#offered(await this.#records.find(clientId, connection));
  }

  /**
   * Returns the values of these clients, by client id. Omits clients without values. Inside a
   * transaction, pass its connection.
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
   * Checks values before a client is written. Throws a RegistrationError if the server does not
   * offer one of the fields, or if a field has too many values. Also throws if a client of this
   * type cannot have one of the values.
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
   * Reads the next `limit` rows, and removes those of clients that no longer exist. After the last
   * row, the next call starts again at the first one.
   */
  removeLeft(limit: number): Promise<Batch> {
    return this.#records.removeLeft(limit);
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
   * Returns a function that writes these values in the same transaction as the client. Fields that
   * are not given do not change. Returns undefined if no field is given. Call `check` first.
   */
  writing(clientId: string, values: FurtherValues = {}): ClientAddition | undefined {
    if (Object.keys(values).length === 0) return undefined;
    return (connection) => this.#records.write(connection, clientId, values);
  }

  /**
   * Returns a function that writes the values of new clients, by client id, in the same transaction
   * as the clients. The function also removes the values that earlier clients with these ids left
   * behind. Returns undefined if the server has no fields. Call `check` first.
   *
   * This method is needed only for clients whose ids an operator chooses. Other ids are random.
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
