import type { Route } from 'portico';
import type { Products } from './products.ts';
import { DEFAULT_LIMIT, limitParameter } from './schemas.ts';

/** The routes of the API. They translate between HTTP and the service with the products. */
export function productRoutes(products: Products): readonly Route[] {
  const { currency } = products;
  return [
    {
      name: 'api.products.index',
      methods: ['GET'],
      path: '/api/products',
      handler(_, request) {
        const limit = limitOf(new URL(request.url).searchParams);
        if (limit === null) return refuse(400, 'limit must be an integer from 1 to 100.');
        return Response.json({ data: products.list(limit), currency });
      },
    },
    {
      name: 'api.products.show',
      methods: ['GET'],
      path: '/api/products/{id}',
      handler({ id = '' }) {
        const product = products.find(id);
        if (product === null) return refuse(404, 'Product not found.');
        return Response.json({ data: product, currency });
      },
    },
  ];
}

/**
 * Returns the limit in a query, or null if it is not valid. For example, `limit[]=1` and a repeated
 * limit are not valid, because they are lists.
 */
function limitOf(query: URLSearchParams): number | null {
  if ([...query.keys()].some((name) => name.startsWith('limit['))) return null;
  const [value, ...others] = query.getAll('limit');
  if (value === undefined) return DEFAULT_LIMIT;
  return others.length === 0 && limitParameter.safeParse(value).success ? Number(value) : null;
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
