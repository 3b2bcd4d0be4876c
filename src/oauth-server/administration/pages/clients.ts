import { badges, openUntil } from '../kinds.ts';
import { withQuery } from '../links.ts';
import { markup } from '../markup.ts';
import type { Page } from '../page.ts';
import { clientName, code, moment } from '../shown.ts';

/** How many are on one page. */
const SHOWN = 50;

/** GET /oauth/admin/clients: the applications, newest first. */
export const clients: Page = {
  async show({ parts: { server }, links, query }) {
    const all = (await server.clients.list()).toReversed();
    const after = query.get('after');
    const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const shown = all.slice(start, start + SHOWN);
    const last = shown.at(-1);
    const now = server.clock();
    const rows = shown.map((each) => {
      const until = openUntil(each, now);
      return markup`
        <li>
          <h2 class="head"><a href="${links.client(each.id)}">${clientName(each)}</a> <span>${badges(each)}</span></h2>
          <p class="soft">${code(each.id)}, since ${moment(each.createdAt)}${
            until === null ? null : markup`; the secret before is accepted until ${moment(until)}`
          }</p>
        </li>`;
    });
    return {
      title: 'Applications',
      body: markup`
      <form method="get" action="${links.client('')}" class="filters">
        <div><label for="id">Find one by its id, or its URL</label><input id="id" name="id" maxlength="2000" required autocomplete="off" spellcheck="false"></div>
        <div><button type="submit">Look</button></div>
      </form>
      ${rows.length === 0 ? markup`<p>There is no application${start === 0 ? '' : ' after that one'}.</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}
      ${
        last === undefined || start + SHOWN >= all.length
          ? null
          : markup`<p><a class="button" href="${withQuery(links.clients, { after: last.id })}">Older ones</a></p>`
      }`,
    };
  },
};
