import { int, mysqlTable, varchar } from 'drizzle-orm/mysql-core';

export const people = mysqlTable('people', {
  id: int().primaryKey().autoincrement(),
  name: varchar({ length: 255 }).notNull(),
});
