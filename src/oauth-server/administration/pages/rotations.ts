import { openUntil } from '../kinds.ts';
import { markup } from '../markup.ts';
import type { Page } from '../page.ts';
import { clientName, code, moment } from '../shown.ts';
import { keyRow } from './keys.ts';

/** GET /oauth/admin/rotations: what was replaced and still counts, and what is to count. */
export const rotations: Page = {
  async show({ parts: { server }, links }) {
    const now = server.clock();
    const open = (await server.clients.list()).flatMap((each) => {
      const until = openUntil(each, now);
      return until === null ? [] : [{ each, until }];
    });
    const rows = open.map(
      ({ each, until }) => markup`
        <li>
          <h3 class="head"><a href="${links.client(each.id)}">${clientName(each)}</a></h3>
          <p class="soft">${code(each.id)}: the secret before is accepted until ${moment(until)}</p>
        </li>`,
    );
    const staged = (await server.keys.list()).filter(({ state }) => state === 'staged');
    return {
      title: 'Open rotations',
      body: markup`
      <h2>Applications whose secret before is still accepted</h2>
      <p class="soft">To end it sooner, give the application another secret, and choose that the one before ends at once.</p>
      ${rows.length === 0 ? markup`<p>None.</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}
      <h2>Signing keys that wait for their time</h2>
      ${staged.length === 0 ? markup`<p>None.</p>` : markup`<ul class="rows" role="list">${staged.map((key) => keyRow(key, 3))}</ul>`}
      <p class="soft"><a href="${links.keys}">All signing keys</a></p>`,
    };
  },
};
