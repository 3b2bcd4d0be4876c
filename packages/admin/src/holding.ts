import type { HeldAuthorization, PersonReference } from 'portico';
import type { HeldGroup } from './grouping.ts';
import { markup, type HtmlContent, type Html } from './html.ts';
import type { Asked } from './page.ts';
import type { KnownPerson } from './people.ts';
import { clientName, code, moment, personRow } from './formatting.ts';

/**
 * Returns a list with one row for each user and application. Each row has a form that posts to
 * `action` and revokes the access. `known` returns what the application knows about a user. If
 * `known` is null, the rows do not show the user.
 */
export function holdingRows(
  groups: readonly HeldGroup[],
  asked: Asked,
  action: string,
  known: ((person: PersonReference) => KnownPerson) | null,
): Html {
  return markup`<ul class="rows" role="list">${groups.map((group) => {
    const [{ client, person }] = group.authorizations;
    return markup`
        <li class="held">
          <div>
            <h2 class="head"><a href="${asked.links.client(client.id)}">${clientName(client)}</a>${counted(group, asked)}</h2>
            ${known === null ? null : personRow(asked.links, person, known(person))}
            ${facts(group)}
          </div>
          ${endForm(group, asked, action)}
        </li>`;
  })}</ul>`;
}

/**
 * Returns a list with one row for each authorization. Each row has a form that posts to `action`
 * and revokes the authorization.
 */
export function singleRows(
  items: readonly HeldAuthorization[],
  asked: Asked,
  action: string,
): Html {
  return markup`<ul class="rows" role="list">${items.map(
    (item) => markup`
        <li class="held">
          <div>
            <h2 class="head">${code(item.id)}</h2>
            ${facts({ authorizations: [item], more: false })}
          </div>
          ${endForm({ authorizations: [item], more: false }, asked, action)}
        </li>`,
  )}</ul>`;
}

/**
 * Returns the number of authorizations in a group, as a link to the page that lists them. Returns
 * null for a single authorization.
 */
function counted({ authorizations, more }: HeldGroup, { links }: Asked): HtmlContent {
  const [{ person, client }] = authorizations;
  if (authorizations.length === 1) return null;
  const count = `${authorizations.length}${more ? ' and more' : ''} authorizations`;
  return markup` <a class="badge" href="${links.person(person.provider, person.id, { client: client.id })}">${count}</a>`;
}

function facts({ authorizations }: HeldGroup): Html {
  const [newest] = authorizations;
  const scopes = [...new Set(authorizations.flatMap((each) => each.scopes))];
  const audiences = [
    ...new Set(authorizations.flatMap(({ audience }) => (audience === null ? [] : [audience]))),
  ];
  const oldest = Math.min(...authorizations.map(({ createdAt }) => createdAt));
  const until = Math.max(...authorizations.map(({ expiresAt }) => expiresAt));
  return markup`
            <p class="scopes">${scopes.map((scope) => markup`${code(scope)} `)}${audiences.map((audience) => markup`<span class="soft">at</span> ${code(audience)} `)}</p>
            <p class="soft">Since ${moment(oldest)}, last refreshed ${shownUse(authorizations)}, until ${moment(until)}.${
              authorizations.length === 1 ? markup` ${code(newest.id)}` : null
            }</p>`;
}

function endForm({ authorizations }: HeldGroup, { fields }: Asked, action: string): Html {
  const [{ id, person, client }, ...others] = authorizations;
  const { provider, id: personId } = person;
  if (others.length === 0) {
    return markup`<form method="post" action="${action}">
            ${fields({ action: 'revoke', target: id, state: null })}
            <input type="hidden" name="id" value="${id}">
            <button type="submit">Revoke<span class="unseen"> ${id}</span></button>
          </form>`;
  }
  const ids = authorizations.map((each) => each.id);
  const target = JSON.stringify([provider, personId, client.id]);
  return markup`<form method="post" action="${action}">
            ${fields({ action: 'revoke-group', target, state: ids })}
            <input type="hidden" name="of_provider" value="${provider}">
            <input type="hidden" name="of_person" value="${personId}">
            <input type="hidden" name="of_client" value="${client.id}">
            <button type="submit">Revoke all ${ids.length}<span class="unseen"> of ${client.id} for ${personId}</span></button>
          </form>`;
}

/** Returns when any of these authorizations was last used to issue tokens. */
function shownUse(authorizations: readonly HeldAuthorization[]): HtmlContent {
  const times = authorizations.flatMap(({ usedAt }) =>
    typeof usedAt === 'number' ? [usedAt] : [],
  );
  if (times.length > 0) return moment(Math.max(...times));
  return authorizations.some(({ usedAt }) => usedAt === 'unknown') ? 'unknown' : 'never';
}
