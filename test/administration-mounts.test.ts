// @engines sqlite: the database makes no difference
import { expect, test } from 'vitest';
import { doAt, PAGES, PERMISSION, startAdministered, textOf } from './support/administration.ts';
import { MOUNTS } from './support/mounts.ts';
import { NEST } from './support/mounts/nest.ts';
import { NEXT } from './support/mounts/next.ts';
import { ADA, GRACE, PASSWORD, registerClient } from './support/portal.ts';
import { waysOf } from './support/scale.ts';
import { createVisitor, locationOf } from './support/visitor.ts';

const CONFIG = { admin_permission: PERMISSION };

// @shows AS-33.1, AS-33.2, AS-33.4
test.each([
  [
    'the kit, below a base path',
    async () => {
      const { portal } = await startAdministered({ config: { base_path: '/auth' } });
      return {
        server: portal.server,
        origin: portal.url,
        pages: `/auth${PAGES}`,
        field: 'identifier',
        client: await registerClient(portal),
        withdraw: () => portal.deny(ADA, PERMISSION),
        close: () => portal.close(),
      };
    },
  ] as const,
  ...waysOf([...MOUNTS, ...NEST, NEXT]).map(
    (mount) =>
      [
        mount.name,
        async () => {
          const running = await mount.start({ oauth_server: CONFIG });
          await running.permit(ADA, `orders:read ${PERMISSION}`);
          return {
            server: running.server,
            origin: running.url,
            pages: PAGES,
            field: 'email',
            client: await running.register({
              name: 'Shop',
              redirectUris: ['https://shop.example/cb'],
              scopes: ['openid'],
            }),
            withdraw: () => running.permit(ADA, 'orders:read'),
            close: () => running.close(),
          };
        },
      ] as const,
  ),
])(
  '%s: only an administrator can use the administration pages, and can revoke an application',
  async (_, start) => {
    const { server, origin, pages, field, client, withdraw, close } = await start();
    try {
      const signedIn = async (email: string) => {
        const visitor = createVisitor(origin);
        const login = await visitor.visit(`${pages}/client?id=${client.id}`);
        const back = await visitor.submit(login, { [field]: email, password: PASSWORD });
        return { visitor, first: await visitor.visit(locationOf(back).href) };
      };
      const grace = await signedIn(GRACE);
      expect(grace.first.status).toBe(403);
      const { visitor, first } = await signedIn(ADA);
      expect(await textOf(first)).toContain(client.id);
      expect(new URL(first.url).pathname).toBe(`${pages}/client`);

      const page = `${pages}/client?id=${client.id}`;
      const changed = await doAt(visitor, `${page}&ask=update`, 'update', {
        name: 'Näme & <b>',
        redirect_uris: 'https://one.example/cb\r\nhttps://two.example/cb?a=1&b=2',
      });
      expect(await textOf(await visitor.visit(locationOf(changed).href))).toContain(
        'Done. The changes take effect',
      );
      expect(await server.clients.find(client.id)).toMatchObject({
        name: 'Näme & <b>',
        redirectUris: ['https://one.example/cb', 'https://two.example/cb?a=1&b=2'],
      });
      expect((await visitor.get(`${pages}/doctor`)).status).toBe(200);
      // If the host supports it, the page finds people by name. Otherwise it says that the search
      // is not available.
      const finds = server.host.findPeople !== null;
      const access = await textOf(await visitor.get(`${pages}/access`));
      expect(access).toContain(
        finds ? 'Name, email address or id' : 'does not support search by name',
      );
      const found = await visitor.get(`${pages}/access?q=lovelace`);
      expect([
        found.status,
        (await textOf(found)).includes('Ada Lovelace ada@example.com'),
      ]).toEqual([finds ? 200 : 400, finds]);
      await withdraw();
      expect((await visitor.get(page)).status).toBe(403);
      expect((await server.clients.find(client.id))?.revokedAt).toBeNull();
    } finally {
      await close();
    }
  },
);
