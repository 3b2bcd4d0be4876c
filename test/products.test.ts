// @engines sqlite: products see no difference between engines
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADA, startPortal, type RunningPortal } from './support/portal.ts';
import { ProductPage } from './support/product-page.ts';
import { ProductSignIn, REPLAYED_PRODUCTS } from './support/replayed-products.ts';

/**
 * Products that no test can install sign people in with the settings of their pages: grafana.md,
 * gitlab.md, nextcloud.md and aspnet.md of docs/connecting.
 */

const ORIGIN = 'https://product.example';
const FORM_POST = REPLAYED_PRODUCTS.filter(({ page }) => page === 'aspnet');
const WITHOUT_PKCE = REPLAYED_PRODUCTS.filter(({ page }) => page !== 'aspnet');

let portals: Readonly<Record<'plain' | 'lenient' | 'pushing', RunningPortal>>;
beforeAll(async () => {
  const [plain, lenient, pushing] = await Promise.all(
    [
      {},
      { unknown_scopes: 'ignore', form_post: true },
      { pushed_authorization_requests: 'accept', form_post: true },
    ].map((oauth_server) => startPortal({ config: { oauth_server } })),
  );
  portals = { plain, lenient, pushing } as typeof portals;
});
afterAll(async () => {
  for (const portal of Object.values(portals)) await portal.close();
});

type Product = (typeof REPLAYED_PRODUCTS)[number];
type Settings = ReturnType<Product['settings']>;

/** Starts the product with the settings of its page and with these changes. */
async function told(
  product: Product,
  portal: RunningPortal,
  change: (settings: Settings) => Partial<Settings> = () => ({}),
) {
  const page = new ProductPage(product.page);
  const client = await page.register(portal, ORIGIN);
  const settings = product.settings(page, portal, client);
  return new ProductSignIn({ ...settings, ...change(settings) }, client, portal);
}

const PERSON = { name: 'Ada Lovelace', email: 'ada@example.com', email_verified: true };

describe.each(REPLAYED_PRODUCTS)('$name', (product) => {
  test('signs a person in with the settings of its page, and gets their claims', async () => {
    const page = new ProductPage(product.page);
    const portal = await startPortal({ config: { oauth_server: await page.serverSettings() } });
    try {
      const signIn = await told(product, portal);
      const claims = await signIn.claims(await signIn.answer(await portal.signedIn(ADA)));
      expect(claims).toMatchObject(PERSON);
      expect(claims['sub']).toEqual(expect.any(String));
    } finally {
      await portal.close();
    }
  });

  test('requests an unknown scope and is refused, or gets the rest if the server ignores it', async () => {
    const wider = ({ scope, sends }: Settings) => ({
      scope: `${scope} groups`,
      ...(sends?.['scope'] === undefined ? {} : { sends: { scope: `${scope} groups` } }),
      mode: 'query' as const,
    });
    const refused = await told(product, portals.plain, wider);
    const answer = await refused.answer(await portals.plain.signedIn(ADA));
    expect(answer.get('error')).toBe('invalid_scope');

    const { lenient } = portals;
    const signIn = await told(product, lenient, wider);
    const claims = await signIn.claims(await signIn.answer(await lenient.signedIn(ADA)));
    expect(claims).toMatchObject(PERSON);
  });
});

test.each(WITHOUT_PKCE)('$name is refused without its PKCE setting', async (product) => {
  const signIn = await told(product, portals.plain, () => ({ pkce: false }));
  const answer = await signIn.answer(await portals.plain.signedIn(ADA));
  expect([answer.get('code'), answer.get('error')]).toEqual([null, 'invalid_request']);
  expect(answer.get('error_description')).toContain('code_challenge');
});

describe.each(FORM_POST)('$name', (product) => {
  test('is refused if the server has no form_post, and its page quotes the refusal', async () => {
    const signIn = await told(product, portals.plain);
    const answer = await signIn.answer(await portals.plain.signedIn(ADA));
    expect([answer.get('code'), answer.get('error')]).toEqual([null, 'invalid_request']);
    const description = answer.get('error_description') ?? 'none';
    expect(new ProductPage(product.page).text).toContain(description);
  });

  test('signs a person in without form_post if it requests response_mode=query', async () => {
    const signIn = await told(product, portals.plain, () => ({ mode: 'query' }));
    const claims = await signIn.claims(await signIn.answer(await portals.plain.signedIn(ADA)));
    expect(claims).toMatchObject(PERSON);
  });

  test('pushes its request if the metadata offers that, and gets the response by form_post', async () => {
    const { pushing } = portals;
    const signIn = await told(product, pushing);
    const claims = await signIn.claims(await signIn.answer(await pushing.signedIn(ADA)));
    expect(claims).toMatchObject(PERSON);
  });
});
