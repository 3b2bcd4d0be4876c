import type { AuthorizationServer, Client } from 'portico';
import { clientPages } from 'portico/extension';
import { openUntil } from '../client-badges.ts';
import { withQuery } from '../links.ts';
import { markup } from '../html.ts';
import type { Page } from '../page.ts';
import { clientName, code, moment } from '../formatting.ts';
import { keyRow } from './keys.ts';

/**
 * The maximum number of clients to read for one page. The page shows only those of them whose
 * previous secret is still accepted.
 */
const EXAMINED = 5000;

interface OpenRotations {
  readonly open: readonly { readonly each: Client; readonly until: number }[];
  /**
   * The id of the last client that was read. The next page starts after it. Null if all clients
   * were read.
   */
  readonly next: string | null;
}

async function openRotations(
  server: AuthorizationServer,
  after: string | undefined,
): Promise<OpenRotations> {
  const now = server.clock();
  const open: { each: Client; until: number }[] = [];
  let examined = 0;
  for await (const { items, next } of clientPages(server.clients, after)) {
    for (const each of items) {
      const until = openUntil(each, now);
      if (until !== null) open.push({ each, until });
    }
    examined += items.length;
    if (examined >= EXAMINED) return { open, next };
  }
  return { open, next: null };
}

/**
 * The page GET /oauth/admin/rotations. It shows the previous secrets that the server still accepts,
 * and the signing keys that the server publishes but does not use yet.
 */
export const rotations: Page = {
  async show({ parts: { server }, links, query }) {
    const { open, next } = await openRotations(server, query.get('after'));
    const none =
      next === null ? 'None.' : 'No matches so far. There are more applications to search.';
    const rows = open.map(
      ({ each, until }) => markup`
        <li>
          <h3 class="head"><a href="${links.client(each.id)}">${clientName(each)}</a></h3>
          <p class="soft">${code(each.id)}: the previous secret is accepted until ${moment(until)}</p>
        </li>`,
    );
    const staged = (await server.keys.list()).filter(({ state }) => state === 'staged');
    return {
      title: 'Open rotations',
      body: markup`
      <h2>Applications whose previous secret is still accepted</h2>
      <p class="soft">To end the previous secret sooner, give the application another new secret and choose not to accept the previous one.</p>
      ${rows.length === 0 ? markup`<p>${none}</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}
      ${next === null ? null : markup`<p><a class="button" href="${withQuery(links.rotations, { after: next })}">Next</a></p>`}
      <h2>Signing keys that do not sign yet</h2>
      ${staged.length === 0 ? markup`<p>None.</p>` : markup`<ul class="rows" role="list">${staged.map((key) => keyRow(key, 3))}</ul>`}
      <p class="soft"><a href="${links.keys}">All signing keys</a></p>`,
    };
  },
};
