import type { Database, SqlConnection } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { ApplicationType, ClientAddition } from '../store/client.ts';
import { FurtherMetadataRecords } from '../store/sql/further-metadata.ts';

/** How a field of clients' metadata is written in JSON. */
export type FieldShape = 'texts' | 'text' | 'flag';

/** A field of clients' metadata that a feature adds (RFC 7591 section 2). */
export interface MetadataField {
  /** The field's name, such as `post_logout_redirect_uris`. */
  readonly name: string;
  /** The name of one value in messages, such as `post-logout redirect URI`. */
  readonly called: string;
  /** How its value is written in JSON. Defaults to a list of texts. */
  readonly shape?: FieldShape;
  /**
   * The option of `oauth:client:create` and `oauth:client:update`. It can be repeated, and a flag's
   * option has no value. Without it, only clients that register themselves can have the field.
   */
  readonly option?: { readonly flag: string; readonly says: string };
  /**
   * When a client that registers itself cannot have the field: without an initial access token, or
   * never. With `with-token`, the registration leaves the field out, so that a stranger cannot make
   * this server send requests to others.
   */
  readonly selfRegistered?: 'with-token' | 'never';
  /** How many values a client may have. */
  readonly most: number;
  /** Returns why a client cannot have this value, or null. It continues a sentence. */
  problem(value: string, applicationType: ApplicationType, rules: UrlRules): string | null;
}

/** What depends on how the server runs. */
export interface UrlRules {
  /** Whether URLs that the server requests may have any port, for development. */
  readonly anyPort: boolean;
}

/** The value of a flag that is set. */
export const MARKED = 'true';

/** The values of each field, by its name. */
export type FurtherValues = Readonly<Record<string, readonly string[]>>;

/** Returns values as in JSON (RFC 7591 section 2). */
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

/** Fields of clients' metadata that features add, and their values in the store. */
export class FurtherMetadata {
  /** The fields whose feature is turned on. */
  readonly fields: readonly MetadataField[];
  readonly #rules: UrlRules;
  readonly #records: FurtherMetadataRecords;

  /** Use the server's `furtherMetadata`. */
  constructor(database: Database, fields: readonly MetadataField[], rules: UrlRules) {
    this.fields = fields;
    this.#rules = rules;
    this.#records = new FurtherMetadataRecords(database);
  }

  /**
   * Returns a client's values. A field without values is missing. In a transaction, pass its
   * connection.
   */
  async find(clientId: string, connection?: SqlConnection): Promise<FurtherValues> {
    if (this.fields.length === 0) return {};
    return this.#offered(await this.#records.find(clientId, connection));
  }

  /**
   * Returns the values of these clients, by their ids. A client without values is missing. In a
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
   * Checks values before a client is written. Throws a RegistrationError if a field is not offered,
   * or if a client of this type cannot have a value.
   */
  check(values: FurtherValues, applicationType: ApplicationType): void {
    for (const [name, given] of Object.entries(values)) {
      const field = this.fields.find((each) => each.name === name);
      if (field === undefined) throw new RegistrationError(`This server does not offer ${name}`);
      if (given.length > field.most)
        throw new RegistrationError(`A client can have ${field.most} values of ${name}`);
      for (const value of given) {
        const problem = field.problem(value, applicationType, this.#rules);
        if (problem !== null)
          throw new RegistrationError(`The ${field.called} ${quotedPublic(value)} ${problem}`);
      }
    }
  }

  /**
   * Removes at most `limit` rows of clients that do not exist any more. Returns how many it
   * removed.
   */
  removeLeft(limit: number): Promise<number> {
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
   * Returns what replaces the values of the named fields in the transaction that writes the client.
   * Other fields stay. Undefined if none is named. Call `check` first.
   */
  writing(clientId: string, values: FurtherValues = {}): ClientAddition | undefined {
    if (Object.keys(values).length === 0) return undefined;
    return (connection) => this.#records.write(connection, clientId, values);
  }
}

/** Returns what the client's marks are called. */
export function marksOf(
  fields: readonly MetadataField[],
  values: FurtherValues,
): readonly string[] {
  return fields.flatMap(({ name, called, selfRegistered }) =>
    selfRegistered === 'never' && values[name]?.includes(MARKED) === true ? [called] : [],
  );
}
