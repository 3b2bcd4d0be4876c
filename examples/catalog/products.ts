/** A product as the catalog shows it. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly priceInCents: number;
}

/** Where products come from: a fixed list here, a database or another service elsewhere. */
export interface Products {
  readonly currency: string;
  /** At most so many, from the start. */
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
