import { DataSource, EntitySchema } from 'typeorm';

const Person = new EntitySchema({
  name: 'Person',
  tableName: 'people',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
});

const url = process.env.DATABASE_URL;
export const source = new DataSource({
  type: url.startsWith('postgres') ? 'postgres' : 'mysql',
  url,
  entities: [Person],
});
