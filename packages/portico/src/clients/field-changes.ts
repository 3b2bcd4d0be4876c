import type { FurtherValues } from '../store/further-metadata.ts';
import type { Client } from '../store/client.ts';
import { describeKeys, type DescribedKey } from './describing.ts';

/**
 * The fields that an update changed, by their names in client metadata (RFC 7591). A change of the
 * logo is in `logo_sha256`. A key is described by its thumbprint, and by its id if it has one.
 */
export type FieldChanges = Readonly<Record<string, FieldChange>>;

/**
 * The values of a field before and after an update. Null or an empty list means that the field has
 * no value.
 */
export interface FieldChange {
  /** The field's value before the update. */
  readonly before: FieldValue;
  /** The field's value after the update. */
  readonly after: FieldValue;
}

type FieldValue = string | readonly string[] | null;

/**
 * The client fields to compare, with their names in client metadata (RFC 7591 section 2, OpenID
 * Connect Dynamic Client Registration section 2). `logo_sha256` is Portico's own name.
 */
const FIELDS: readonly (readonly [name: string, of: (client: Client) => FieldValue])[] = [
  ['client_name', ({ name }) => name],
  ['redirect_uris', ({ redirectUris }) => redirectUris],
  ['scope', ({ scopes }) => scopes],
  ['grant_types', ({ grants }) => grants],
  ['jwks', ({ keys }) => describeKeys(keys).map(getName)],
  ['jwks_uri', ({ keys }) => keys?.jwksUri ?? null],
  ['token_endpoint_auth_signing_alg', ({ keys }) => keys?.algorithm ?? null],
  ['client_uri', ({ siteUri = null }) => siteUri],
  ['logo_sha256', ({ logoHash = null }) => logoHash],
  ['id_token_signed_response_alg', ({ idTokenSignedResponseAlg: algorithm }) => algorithm],
];

function getName({ kid, thumbprint }: DescribedKey): string {
  return kid === null ? thumbprint : `${kid} ${thumbprint}`;
}

export function differences(before: Client, after: Client): FieldChanges {
  return Object.fromEntries(
    FIELDS.map(([name, of]) => [name, { before: of(before), after: of(after) }] as const).filter(
      ([, change]) => JSON.stringify(change.before) !== JSON.stringify(change.after),
    ),
  );
}

export function furtherDifferences(
  before: FurtherValues,
  after: FurtherValues,
): Readonly<Record<string, FieldChange>> {
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, values]) => {
      const earlier = before[name] ?? [];
      return JSON.stringify(earlier) === JSON.stringify(values)
        ? []
        : [[name, { before: earlier, after: values }] as const];
    }),
  );
}
