import { z } from 'zod';
import { articleDetail, articleList, invalid, newArticle, refusal } from './schemas.ts';

function json(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema: schemaOf(schema) } } };
}

/** Leaves out `$schema`, because OpenAPI 3.1 uses JSON Schema 2020-12 anyway. */
function schemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described;
}

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const none = json('There is no such article', refusal);

/** Describes the article store in OpenAPI 3.1. It uses the same schemas as the checks. */
export function openapi(origin: string): Readonly<Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: { title: 'Articles', version: '1.0.0' },
    servers: [{ url: origin }],
    paths: {
      '/api/articles': {
        get: {
          operationId: 'api.articles.index',
          responses: { 200: json('The articles by their id', articleList) },
        },
        post: {
          operationId: 'api.articles.store',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(newArticle) } },
          },
          responses: {
            201: {
              ...json('The article, created', articleDetail),
              headers: { Location: { required: true, schema: { type: 'string' } } },
            },
            400: json('The body is malformed JSON', refusal),
            413: json('The body is larger than 1 MiB', refusal),
            415: json('The body is not JSON by its media type', refusal),
            422: json('The body is not an object, or a field is invalid', invalid),
          },
        },
      },
      '/api/articles/{id}': {
        get: {
          operationId: 'api.articles.show',
          parameters: [id],
          responses: { 200: json('The article', articleDetail), 404: none },
        },
        delete: {
          operationId: 'api.articles.destroy',
          parameters: [id],
          responses: { 204: { description: 'The article is gone' }, 404: none },
        },
      },
    },
  };
}
