import { z } from 'zod';
import { limitParameter, productDetail, productList, refusal } from './schemas.ts';

function json(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema: schemaOf(schema) } } };
}

/** Leaves out `$schema`, because OpenAPI 3.1 uses JSON Schema 2020-12 anyway. */
function schemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...described } = z.toJSONSchema(schema);
  return described;
}

/** Describes the catalog in OpenAPI 3.1. It uses the same schemas as the checks. */
export function openapi(origin: string): Readonly<Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: { title: 'Catalog', version: '1.0.0' },
    servers: [{ url: origin }],
    paths: {
      '/api/products': {
        get: {
          operationId: 'api.products.index',
          parameters: [
            { name: 'limit', in: 'query', required: false, schema: schemaOf(limitParameter) },
          ],
          responses: {
            200: json('The products, from the start', productList),
            400: json('The limit is not one', refusal),
          },
        },
      },
      '/api/products/{id}': {
        get: {
          operationId: 'api.products.show',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: json('The product', productDetail),
            404: json('There is no such product', refusal),
          },
        },
      },
    },
  };
}
