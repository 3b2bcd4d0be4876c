import type { Dialect, SqlParameter } from '@portico/sql';
import type { PersonReference } from '../../person.ts';
import type { AuthorizationFilter } from '../authorization-search.ts';
import type { Condition } from './statements.ts';

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

/** The index of `oauth_families f` for a filter: its condition and its order. */
export interface FamilyIndex extends Where {
  readonly order: string;
  /** Returns the condition that also ends the read at this id. */
  readonly endsAt: (lowest: string) => Where;
}

/** Sorts after every id, because ids are hexadecimal. */
const ABOVE_ALL = '~';

/** Selects by person, else by client, else by id. */
export function familyIndex(
  { person, clientId }: AuthorizationFilter,
  below: string | null,
  dialect: Dialect,
): FamilyIndex {
  const id = below ?? ABOVE_ALL;
  if (person !== undefined) {
    const provider = { sql: 'f.user_provider = ?', parameters: [person.provider] };
    const { order, endsAt, ...range } = getRange(dialect, 'f.user_id', person.id, id);
    return { ...conjunction([provider, range]), order, endsAt };
  }
  if (clientId !== undefined) return getRange(dialect, 'f.client_id', clientId, id);
  return { sql: 'f.id < ?', parameters: [id], order: 'f.id DESC', endsAt: isFrom };
}

function getRange(dialect: Dialect, column: string, value: string, below: string): FamilyIndex {
  const range = dialect.belowInIndex(column, 'f.id');
  // With a condition on the id alone, PostgreSQL would read all index entries of the value.
  const endsAt = (lowest: string) =>
    dialect.plansWithoutValues
      ? { sql: `(${column}, f.id) >= (?, ?)`, parameters: [value, lowest] }
      : isFrom(lowest);
  return { sql: range.sql, order: range.order, parameters: range.parameters(value, below), endsAt };
}

function isFrom(lowest: string): Where {
  return { sql: 'f.id >= ?', parameters: [lowest] };
}

/**
 * Returns the condition for a person's rows.
 *
 * Some engines plan a statement before they know its values. For them, the condition is a range.
 * With `=`, they would ignore the order of the index and read the whole table for each batch.
 */
export function conditionOfPerson({ provider, id }: PersonReference, dialect: Dialect): Condition {
  if (!dialect.plansWithoutValues) return ['user_id', '= ? AND user_provider = ?', [id, provider]];
  return [
    'user_id',
    '>= ? AND (user_id, id) < (?, ?) AND user_provider = ?',
    [id, id, ABOVE_ALL, provider],
  ];
}
