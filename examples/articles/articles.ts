import type { Database, Migration } from 'portico';
import type { Article, NewArticle } from './schemas.ts';

/** Where articles are kept; it knows nothing of HTTP. */
export interface Articles {
  /** By their id, ascending. */
  list(): Promise<readonly Article[]>;
  find(id: number): Promise<Article | null>;
  /** Under an id that no article ever had. */
  create(article: NewArticle): Promise<Article>;
  /** False if there is no such article. */
  remove(id: number): Promise<boolean>;
}

export function databaseArticles(database: Database): Articles {
  return {
    async list() {
      const { rows } = await database.execute<Article>(
        'SELECT id, title, body FROM articles ORDER BY id',
      );
      return rows;
    },
    async find(id) {
      const { rows } = await database.execute<Article>(
        'SELECT id, title, body FROM articles WHERE id = ?',
        [id],
      );
      return rows[0] ?? null;
    },
    create({ title, body }) {
      return database.transaction(async (connection) => {
        const insert = 'INSERT INTO articles (title, body) VALUES (?, ?)';
        // MySQL tells the new id to the connection that made it.
        const mysql = database.dialect === 'mysql';
        const inserted = await connection.execute<{ id: number }>(
          mysql ? insert : `${insert} RETURNING id`,
          [title, body],
        );
        const told = mysql
          ? await connection.execute<{ id: number }>('SELECT LAST_INSERT_ID() AS id')
          : inserted;
        const id = told.rows[0]?.id;
        if (id === undefined) throw new Error('The new article has no id');
        return { id, title, body };
      });
    },
    async remove(id) {
      const { affected } = await database.execute('DELETE FROM articles WHERE id = ?', [id]);
      return affected === 1;
    },
  };
}

export const articlesMigration: Migration = {
  name: 'articles_0001_initial',
  async up({ change, types: { counter, text } }) {
    await change(
      `CREATE TABLE articles (id ${counter}, title ${text} NOT NULL, body ${text} NOT NULL)`,
    );
  },
};
