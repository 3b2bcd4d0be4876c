import { openUntil } from '../kinds.ts';
import { markup } from '../markup.ts';
import type { Page } from '../page.ts';
import { clientName, code, moment } from '../shown.ts';

/** GET /oauth/admin/rotations: what was replaced, and still counts. */
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
          <h2 class="head"><a href="${links.client(each.id)}">${clientName(each)}</a></h2>
          <p class="soft">${code(each.id)}: the secret before is accepted until ${moment(until)}</p>
        </li>`,
    );
    return {
      title: 'Open rotations',
      body: markup`
      <p>Applications whose secret was replaced, while the one before is still accepted. To end it sooner, give the application another secret,
        and choose that the one before ends at once.</p>
      ${rows.length === 0 ? markup`<p>No rotation is open.</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}`,
    };
  },
};
