import { pgTable, serial, text } from 'drizzle-orm/pg-core';

export const people = pgTable('people', { id: serial().primaryKey(), name: text().notNull() });
