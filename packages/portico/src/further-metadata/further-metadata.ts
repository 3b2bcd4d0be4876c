import type { Database } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { ApplicationType, ClientAddition } from '../store/client.ts';
import { FurtherMetadataRecords } from '../store/sql/further-metadata.ts';

/**
 * A field that a feature adds to the metadata of clients (RFC 7591 section 2). Its value is a list
 * of texts.
 */
export interface MetadataField {
  /** The field's name, such as `post_logout_redirect_uris`. */
  readonly name: string;
  /** The name of one value in messages, such as `post-logout redirect URI`. */
  readonly called: string;
  /** The option of `oauth:client:create` and `oauth:client:update`. It can be repeated. */
  readonly option: { readonly flag: string; readonly says: string };
  /**
   * Whether the field is a mark that only an operator sets. Its option has no value, and its one
   * value in the store is `MARKED`. A registration (RFC 7591) cannot contain it.
   */
  readonly isMark?: true;
  /** How many values a client may have. */
  readonly most: number;
  /**
   * Returns why a client of this type cannot have this value. Returns null if it can. The text
   * continues a sentence.
   */
  problem(value: string, applicationType: ApplicationType): string | null;
}

/** The value of a mark that is set. */
export const MARKED = 'true';

/** The values of each field, by its name. */
export type FurtherValues = Readonly<Record<string, readonly string[]>>;

/** Fields that features add to the metadata of clients, and their values in the store. */
export class FurtherMetadata {
  /** The fields whose feature is turned on. */
  readonly fields: readonly MetadataField[];
  readonly #records: FurtherMetadataRecords;

  /** Do not call this constructor. Use the server's `furtherMetadata`. */
  constructor(database: Database, fields: readonly MetadataField[]) {
    this.fields = fields;
    this.#records = new FurtherMetadataRecords(database);
  }

  /** Returns the values of a client. A field without values is missing in the result. */
  async find(clientId: string): Promise<FurtherValues> {
    if (this.fields.length === 0) return {};
    return this.#offered(await this.#records.find(clientId));
  }

  /** Returns the values of these clients, by their ids. A client without values is missing. */
  async findAll(clientIds: readonly string[]): Promise<ReadonlyMap<string, FurtherValues>> {
    if (this.fields.length === 0) return new Map();
    const stored = await this.#records.findAll(clientIds);
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
        const problem = field.problem(value, applicationType);
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

/** Returns the values as members of JSON. A mark is `true`, and other fields are lists. */
export function furtherMembers(
  fields: readonly MetadataField[],
  values: FurtherValues,
): Readonly<Record<string, readonly string[] | true>> {
  const marks = new Set(fields.filter((each) => each.isMark === true).map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name, given]) => !marks.has(name) || given.includes(MARKED))
      .map(([name, given]) => [name, marks.has(name) ? true : given]),
  );
}

/** Returns what the client's marks are called. */
export function marksOf(
  fields: readonly MetadataField[],
  values: FurtherValues,
): readonly string[] {
  return fields.flatMap(({ name, called, isMark }) =>
    isMark === true && values[name]?.includes(MARKED) === true ? [called] : [],
  );
}
