import type { Database } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { ApplicationType } from '../store/client.ts';
import { FurtherMetadataRecords } from '../store/sql/further-metadata.ts';

/** A field of clients' metadata that a feature adds (RFC 7591 section 2): a list of texts. */
export interface MetadataField {
  /** The field's name, such as `post_logout_redirect_uris`. */
  readonly name: string;
  /** What one value is called in messages, such as `post-logout redirect URI`. */
  readonly called: string;
  /** The option of `oauth:client:create` and `:update`, which is repeatable. */
  readonly option: { readonly flag: string; readonly says: string };
  /**
   * Whether the field is a mark that only an operator sets. Its option has no value, and its one
   * value in the store is `MARKED`. A registration (RFC 7591) cannot contain it.
   */
  readonly isMark?: true;
  /** How many values a client may have. */
  readonly most: number;
  /** Returns why a client of this type cannot have this value, or null. It continues a sentence. */
  problem(value: string, applicationType: ApplicationType): string | null;
}

/** The value of a mark that is set. */
export const MARKED = 'true';

/** The values of each field, by its name. */
export type FurtherValues = Readonly<Record<string, readonly string[]>>;

/** Fields of clients' metadata that features add, and their values in the store. */
export class FurtherMetadata {
  /** The fields whose feature is on. */
  readonly fields: readonly MetadataField[];
  readonly #records: FurtherMetadataRecords;

  /** Use the server's `furtherMetadata`. */
  constructor(database: Database, fields: readonly MetadataField[]) {
    this.fields = fields;
    this.#records = new FurtherMetadataRecords(database);
  }

  /** Returns a client's values. A field without values is missing. */
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
   * Checks values before a client is written. Throws a RegistrationError for a field that is not
   * offered, and for a value that a client of this type cannot have.
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

  /** Removes at most `limit` rows of clients that no longer exist. Returns how many. */
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

  /** Replaces the values of the named fields. Other fields stay. Call `check` first. */
  async write(clientId: string, values: FurtherValues): Promise<void> {
    if (Object.keys(values).length > 0) await this.#records.write(clientId, values);
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
