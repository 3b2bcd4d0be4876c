import { z } from 'zod';

/** The schemas of requests and responses. They check the values and describe them in OpenAPI. */

/** A text that contains more than white space and is at most `bytes` bytes long. */
function text(bytes: number) {
  return z
    .string({ error: 'must be a text' })
    .refine((value) => value.trim() !== '', 'must not be empty')
    .refine((value) => Buffer.byteLength(value) <= bytes, `must be at most ${bytes} bytes`)
    .refine((value) => !value.includes('\0'), 'must not contain the character NUL')
    .meta({
      minLength: 1,
      description: `Not empty after trimming, at most ${bytes} bytes of UTF-8`,
    });
}

export const newArticle = z
  .object({ title: text(200), body: text(10_000) })
  .meta({ title: 'New article' });

export const article = z
  .object({ id: z.int().positive(), title: z.string(), body: z.string() })
  .meta({ title: 'Article' });

export const articleList = z.object({ data: z.array(article) });
export const articleDetail = z.object({ data: article });
export const refusal = z.object({ error: z.string() });
export const invalid = z.object({
  error: z.string(),
  fields: z.record(z.string(), z.array(z.string())).optional(),
});

export type NewArticle = z.output<typeof newArticle>;
export type Article = z.output<typeof article>;
