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
  /** The maximum number of values that a client may have. */
  readonly most: number;
  /**
   * Returns why a client of this type cannot have this value. Returns null if it can. The text
   * continues a sentence.
   */
  problem(value: string, applicationType: ApplicationType): string | null;
}

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
    const stored = await this.#records.find(clientId);
    return Object.fromEntries(
      this.fields.flatMap(({ name }) => {
        const values = Object.hasOwn(stored, name) ? stored[name] : undefined;
        return values === undefined || values.length === 0 ? [] : [[name, values] as const];
      }),
    );
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

  /**
   * Returns what replaces the values of the named fields in the transaction that writes the client.
   * Other fields stay. Undefined if none is named. Call `check` first.
   */
  writing(clientId: string, values: FurtherValues = {}): ClientAddition | undefined {
    if (Object.keys(values).length === 0) return undefined;
    return (connection) => this.#records.write(connection, clientId, values);
  }
}
