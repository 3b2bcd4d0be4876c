import type { Database, Migration } from 'portico';
import type { Article, NewArticle } from './schemas.ts';

/** Stores articles. It does not depend on HTTP. */
export interface Articles {
  /** Returns all articles, in ascending order of their ids. */
  list(): Promise<readonly Article[]>;
  find(id: number): Promise<Article | null>;
  /** Stores an article under a new id. An id is never used twice. */
  create(article: NewArticle): Promise<Article>;
  /** Removes an article. Returns false if it does not exist. */
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
        // MySQL has no RETURNING. It reports the new id on the connection that created the row.
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
