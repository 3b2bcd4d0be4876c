import type { PersonReference } from '../../../contracts/person.ts';
import type { SqlDialect, SqlParameter } from '../../../sql/contract.ts';
import type { AuthorizationFilter } from '../authorization-search.ts';
import type { Condition } from './statements.ts';

/** A condition with its values. */
export interface Where {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export function conjunction(parts: readonly Where[]): Where {
  return {
    sql: parts.map(({ sql }) => `(${sql})`).join(' AND '),
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

/** The part of a filter that an index of `oauth_families f` has, and the order of that index: of the person, of the client, or the key. */
export interface FamilyIndex extends Where {
  readonly order: string;
}

/** Above every id: those are hexadecimal. */
const ABOVE_ALL = '~';

/**
 * PostgreSQL prepares a statement without its values, takes any client for the usual one, and reads the table by its key until it has met
 * enough rows of it. An order that begins with the client, and is not said to be of one alone, leaves it the index.
 */
export function familyIndex(
  { person, clientId }: AuthorizationFilter,
  below: string | null,
  dialect: SqlDialect,
): FamilyIndex {
  const id = below ?? ABOVE_ALL;
  const by =
    person !== undefined
      ? (['f.user_id', person.id] as const)
      : clientId !== undefined
        ? (['f.client_id', clientId] as const)
        : null;
  const provider =
    person === undefined ? [] : [{ sql: 'f.user_provider = ?', parameters: [person.provider] }];
  if (by === null) return { sql: 'f.id < ?', parameters: [id], order: 'f.id DESC' };
  const [column, value] = by;
  if (dialect === 'postgres') {
    const row = { sql: `${column} >= ? AND (${column}, f.id) < (?, ?)`, parameters: [value, value, id] };
    return { ...conjunction([...provider, row]), order: `${column} DESC, f.id DESC` };
  }
  const equal = { sql: `${column} = ? AND f.id < ?`, parameters: [value, id] };
  return { ...conjunction([...provider, equal]), order: 'f.id DESC' };
}

/** For the same reason: PostgreSQL would leave out an order by what is one value, and read the whole table for each batch. */
export function conditionOfPerson({ provider, id }: PersonReference, dialect: SqlDialect): Condition {
  return dialect === 'postgres'
    ? ['user_id', '>= ? AND (user_id, id) < (?, ?) AND user_provider = ?', [id, id, ABOVE_ALL, provider]]
    : ['user_id', '= ? AND user_provider = ?', [id, provider]];
}
