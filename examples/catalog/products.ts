/** A product as the catalog shows it. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly priceInCents: number;
}

/**
 * Returns products. Here they are in a fixed list. In your application, they may be in a database
 * or another service.
 */
export interface Products {
  readonly currency: string;
  /** Returns at most `limit` products, beginning with the first. */
  list(limit: number): readonly Product[];
  find(id: string): Product | null;
}

const PRODUCTS: readonly Product[] = [
  { id: 'espresso-cup', name: 'Espresso cup', priceInCents: 1250 },
  { id: 'coffee-beans', name: 'Coffee beans, 1 kg', priceInCents: 2490 },
];

export const fixedProducts: Products = {
  currency: 'EUR',
  list: (limit) => PRODUCTS.slice(0, limit),
  find: (id) => PRODUCTS.find((product) => product.id === id) ?? null,
};
