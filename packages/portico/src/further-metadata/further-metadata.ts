import type { Database, SqlConnection } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { quotedPublic } from '../quoting.ts';
import type { ApplicationType } from '../store/client.ts';
import { FurtherMetadataRecords } from '../store/sql/further-metadata.ts';

/** How a field of clients' metadata is written in JSON. */
export type FieldShape = 'texts' | 'text' | 'flag';

/** A field of clients' metadata that a feature adds (RFC 7591 section 2). */
export interface MetadataField {
  /** The field's name, such as `post_logout_redirect_uris`. */
  readonly name: string;
  /** What one value is called in messages, such as `post-logout redirect URI`. */
  readonly called: string;
  /** A list of texts by default. A flag that is true has the value `true`. */
  readonly shape?: FieldShape;
  /**
   * The option of `oauth:client:create` and `:update`, which is repeatable. Without it, only
   * clients that register themselves can have the field.
   */
  readonly option?: { readonly flag: string; readonly says: string };
  /**
   * Whether a client that registers itself needs an initial access token to have it. Otherwise the
   * field is left out: a stranger must not make this server send requests to any other.
   */
  readonly needsToken?: boolean;
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

/** The values of each field, by its name. */
export type FurtherValues = Readonly<Record<string, readonly string[]>>;

/** Returns values as in JSON (RFC 7591 section 2). */
export function furtherJson(
  fields: readonly MetadataField[],
  values: FurtherValues,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, texts]) => {
      const { shape = 'texts' } = fields.find((each) => each.name === name) ?? {};
      if (shape === 'texts') return [name, texts] as const;
      return [name, shape === 'flag' ? texts.length > 0 : (texts[0] ?? null)] as const;
    }),
  );
}

/** Fields of clients' metadata that features add, and their values in the store. */
export class FurtherMetadata {
  /** The fields whose feature is on. */
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
    const stored = await this.#records.find(clientId, connection);
    return Object.fromEntries(
      this.fields.flatMap(({ name }) => {
        const values = Object.hasOwn(stored, name) ? stored[name] : undefined;
        return values === undefined || values.length === 0 ? [] : [[name, values] as const];
      }),
    );
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
        const problem = field.problem(value, applicationType, this.#rules);
        if (problem !== null)
          throw new RegistrationError(`The ${field.called} ${quotedPublic(value)} ${problem}`);
      }
    }
  }

  /** Removes at most `limit` rows of clients that no longer exist. Returns how many. */
  removeLeft(limit: number): Promise<number> {
    return this.#records.removeLeft(limit);
  }

  /** Replaces the values of the named fields. Other fields stay. Call `check` first. */
  async write(clientId: string, values: FurtherValues): Promise<void> {
    if (Object.keys(values).length > 0) await this.#records.write(clientId, values);
  }
}
