import type { SqlDialect } from './contracts.ts';

/** How each engine spells the kinds of column that the kit's tables have. Identifiers compare byte by byte everywhere. */
export interface ColumnTypes {
  /** At most 191 characters, so that several fit into one key on MySQL. */
  readonly identifier: string;
  readonly text: string;
}

export const COLUMN_TYPES: Readonly<Record<SqlDialect, ColumnTypes>> = {
  sqlite: { identifier: 'TEXT', text: 'TEXT' },
  postgres: { identifier: 'TEXT COLLATE "C"', text: 'TEXT' },
  mysql: {
    identifier: 'VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    text: 'MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  },
};
