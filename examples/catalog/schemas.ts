import { z } from 'zod';

/** The schemas of requests and responses. They check the values and describe them in OpenAPI. */

export const DEFAULT_LIMIT = 20;

export const limitParameter = z
  .string()
  .regex(/^(?:[1-9][0-9]?|100)$/)
  .meta({
    description: `An integer from 1 to 100; ${DEFAULT_LIMIT} when it is left out`,
    example: '20',
  });

export const product = z
  .object({ id: z.string(), name: z.string(), priceInCents: z.int() })
  .meta({ title: 'Product' });

const currency = z.literal('EUR');
export const productList = z.object({ data: z.array(product), currency });
export const productDetail = z.object({ data: product, currency });
export const refusal = z.object({ error: z.string() });
