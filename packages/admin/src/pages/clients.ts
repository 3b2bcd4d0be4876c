import { badges, openUntil } from '../client-badges.ts';
import { registrationLink, withQuery } from '../links.ts';
import { markup } from '../html.ts';
import type { Page } from '../page.ts';
import { clientName, code, moment } from '../formatting.ts';
import { register, registrationForm } from './registering.ts';

/**
 * The page /oauth/admin/clients. It lists the applications, sorted by id, and has a form to
 * register a new application.
 */
export const clients: Page = {
  async show(asked, refused) {
    const { parts, links, query } = asked;
    const { server } = parts;
    if (refused !== undefined || query.get('ask') === 'register')
      return registrationForm(asked, refused);
    const after = query.get('after');
    const { items, next } = await server.clients.page(after === undefined ? {} : { after });
    const now = server.clock();
    const rows = items.map((each) => {
      const until = openUntil(each, now);
      return markup`
        <li>
          <h2 class="head"><a href="${links.client(each.id)}">${clientName(each)}</a> <span>${badges(each)}</span></h2>
          <p class="soft">${code(each.id)}, since ${moment(each.createdAt)}${
            until === null ? null : markup`; the previous secret is accepted until ${moment(until)}`
          }</p>
        </li>`;
    });
    return {
      title: 'Applications',
      body: markup`
      <p class="choices"><a class="button primary" href="${registrationLink(links)}">Register an application</a></p>
      <form method="get" action="${links.client('')}" class="search">
        <label for="id">Find by id or URL</label>
        <div><input id="id" name="id" maxlength="2000" required autocomplete="off" spellcheck="false"><button type="submit">Find</button></div>
      </form>
      ${rows.length === 0 ? markup`<p class="empty">There are no ${after === undefined ? '' : 'more '}applications.</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}
      ${
        next === null
          ? null
          : markup`<p><a class="button" href="${withQuery(links.clients, { after: next })}">Next</a></p>`
      }`,
    };
  },

  act: register,
};
