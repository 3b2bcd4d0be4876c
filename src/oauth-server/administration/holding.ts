import type { HeldAuthorization } from '../store/held.ts';
import { markup, type Content, type Markup } from './markup.ts';
import type { Asked } from './page.ts';
import { clientName, code, moment, personName } from './shown.ts';

/** The authorizations of a page, each with the form that ends it, which `action` takes. */
export function holdingRows(
  items: readonly HeldAuthorization[],
  { fields, links }: Asked,
  action: string,
): Markup {
  return markup`<ul class="rows" role="list">${items.map(
    ({ id, client, person, scopes, audience, createdAt, usedAt, expiresAt }) => markup`
        <li>
          <h2 class="head"><a href="${links.client(client.id)}">${clientName(client)}</a></h2>
          <p>for <a href="${links.person(person.provider, person.id)}">${personName(person)}</a></p>
          <p>${scopes.map((scope) => markup`${code(scope)} `)}${audience === null ? null : markup`at ${code(audience)}`}</p>
          <p class="soft">Since ${moment(createdAt)}, last refreshed ${shownUse(usedAt)}, until ${moment(expiresAt)}. ${code(id)}</p>
          <form method="post" action="${action}">
            ${fields({ action: 'revoke', target: id, state: null })}
            <input type="hidden" name="id" value="${id}">
            <button type="submit">Revoke<span class="unseen"> ${id}</span></button>
          </form>
        </li>`,
  )}</ul>`;
}

function shownUse(usedAt: HeldAuthorization['usedAt']): Content {
  if (usedAt === null) return 'never';
  return usedAt === 'unknown' ? usedAt : moment(usedAt);
}
