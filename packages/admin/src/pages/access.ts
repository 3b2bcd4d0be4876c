import { AccessError, type AuthorizationFilter } from 'portico';
import { filterForm, readFilters, personIn, type Filter } from '../filters.ts';
import { heldBy, heldGroups } from '../grouping.ts';
import { holdingRows } from '../holding.ts';
import { isDoneSoon } from '../lasting.ts';
import { withQuery } from '../links.ts';
import { markup, type Html } from '../html.ts';
import type { Asked, Page, Sent } from '../page.ts';
import { findPeople, knownPeople, MOST_FOUND } from '../people.ts';
import { alert, notice, personRow } from '../formatting.ts';

const DONE = {
  revoked: 'Done. The access and its tokens are revoked.',
  ended: 'This access had already ended.',
  continuing: 'This takes longer and continues in the background. Reload the page in a moment.',
};

/** The filters of the list. They are the same as the options of the CLI command. */
const FILTERS: readonly Filter[] = [
  { name: 'client', text: 'Application (its id)' },
  { name: 'provider', text: 'Provider of the person' },
  { name: 'person', text: 'Person id' },
  { name: 'scope', text: 'Scope' },
  { name: 'unused_days', text: 'Not used for (days)' },
];

/**
 * The page /oauth/admin/access. It shows which users have given access to which applications, with
 * one row for each user and application. The newest row comes first.
 */
export const access: Page = {
  async show(asked, refused) {
    const { query } = asked;
    const title = 'Who holds access';
    const forms = markup`${searchForm(asked)}${moreFilters(asked)}`;
    try {
      const wanted = query.get('q');
      const list = wanted === undefined ? await held(asked) : await found(asked, wanted);
      return { title, body: markup`${forms}${notice(asked, DONE)}${alert(refused)}${list}` };
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      return { title, status: 400, body: markup`${forms}${alert({ reason: error.message })}` };
    }
  },

  async act(sent) {
    const { form, accept, parts, person } = sent;
    const id = form.get('id') ?? '';
    if (form.get('do') === 'revoke') {
      await accept({ action: 'revoke', target: id, state: null });
      const { revoked } = await parts.server.access.revokeAuthorization(id, { by: person });
      return { goTo: here(sent, { done: revoked ? 'revoked' : 'ended' }) };
    }
    if (form.get('do') !== 'revoke-group') return null;
    const { end } = await groupInForm(sent, readFilter(sent));
    return { goTo: here(sent, { done: (await end()) ? 'revoked' : 'continuing' }) };
  },
};

/**
 * Marks the form as used, and returns the function `end`. This function revokes the authorizations
 * in the form, which one user gave to one application. It returns false if the work takes a long
 * time and continues in the background.
 */
export async function groupInForm(
  sent: Sent,
  filter: AuthorizationFilter,
): Promise<{ readonly end: () => Promise<boolean> }> {
  const { form, accept, parts, person: by } = sent;
  const [provider = '', id = '', clientId = ''] = ['of_provider', 'of_person', 'of_client'].map(
    (name) => form.get(name),
  );
  const { access: held, host } = parts.server;
  const group = await heldBy(held, { ...filter, person: { provider, id }, clientId });
  const ids = group?.authorizations.map((each) => each.id) ?? [];
  await accept({
    action: 'revoke-group',
    target: JSON.stringify([provider, id, clientId]),
    state: ids,
  });
  return { end: () => isDoneSoon('revoke-group', held.revokeAuthorizations(ids, { by }), host) };
}

async function held(asked: Asked): Promise<Html> {
  const { parts, query, links } = asked;
  const { groups, next } = await heldGroups(
    parts.server.access,
    readFilter(asked),
    query.get('after'),
  );
  const people = groups.map(({ authorizations: [{ person }] }) => person);
  const known = await knownPeople(parts.server.host, people);
  const none = next === null ? 'No active authorization matches.' : NONE_YET;
  const rows = holdingRows(groups, asked, here(asked, {}), known);
  return markup`
      ${groups.length === 0 ? markup`<p class="empty">${none}</p>` : rows}
      ${next === null ? null : markup`<p><a class="button" href="${withQuery(links.access, { ...readFilters(asked, FILTERS), after: next })}">Show older ones</a></p>`}`;
}

async function found({ parts, links }: Asked, wanted: string): Promise<Html> {
  const find = parts.server.host.findPeople;
  if (find === null)
    throw new AccessError('This application does not support search by name or email address');
  const { people, more } = await findPeople(find, wanted);
  const rows = people.map(
    (each) => markup`
        <li>${personRow(links, each.person, each)}</li>`,
  );
  const tooMany = more
    ? markup`<p class="soft">Only the first ${MOST_FOUND} are shown. Enter more of the name.</p>`
    : null;
  return markup`
      ${rows.length === 0 ? markup`<p class="empty">No one was found.</p>` : markup`<h2>People</h2><ul class="rows" role="list">${rows}</ul>`}
      ${tooMany}
      <p class="soft"><a href="${links.access}">Everyone with access</a></p>`;
}

/**
 * Returns the form that searches for users by name, email address or id. If the application does
 * not support this search, returns a hint that says so.
 */
function searchForm({ parts, query, links }: Asked): Html {
  if (parts.server.host.findPeople === null) {
    return markup`<p class="hint">This application does not support search by name or email address: its host has no <code>findPeople</code>. Look for a person by provider and id.</p>`;
  }
  return markup`
      <form method="get" action="${links.access}" class="search" role="search">
        <label for="q">Find a person</label>
        <div><input id="q" name="q" type="search" maxlength="100" required value="${query.get('q') ?? ''}" autocomplete="off" spellcheck="false" aria-describedby="q-hint"><button class="primary" type="submit">Find</button></div>
        <p class="hint" id="q-hint">Name, email address or id.</p>
      </form>`;
}

/**
 * Returns the form with the list's filters. It is collapsed if no filter is set and the page also
 * has a search form.
 */
function moreFilters(asked: Asked): Html {
  const isUsed = FILTERS.some(({ name }) => asked.query.get(name) !== undefined);
  const isOpen = isUsed || asked.parts.server.host.findPeople === null;
  return markup`
      <details class="more"${isOpen ? markup` open` : null}><summary>Filter the list</summary>${filterForm(asked, asked.links.access, FILTERS)}
      </details>`;
}

const NONE_YET = 'No matches so far. There are more rows to search.';

const A_DAY = 86_400_000;

/** Reads the filters from the query. Throws an AccessError if a value is invalid. */
function readFilter(asked: Asked): AuthorizationFilter {
  const { query, parts } = asked;
  const [clientId, scope, days] = [
    query.get('client'),
    query.get('scope'),
    query.get('unused_days'),
  ];
  const person = personIn(asked);
  if (days !== undefined && !/^\d{1,5}$/.test(days)) {
    throw new AccessError('Enter a whole number of days in "Not used for", for example 90');
  }
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(person === null ? {} : { person }),
    ...(scope === undefined ? {} : { scope }),
    ...(days === undefined ? {} : { unusedSince: parts.server.clock() - Number(days) * A_DAY }),
  };
}

/** Returns the path of the current page of the list, with the same filters. */
function here(asked: Asked, more: Readonly<Record<string, string>>): string {
  const after = asked.query.get('after') ?? '';
  return withQuery(asked.links.access, { ...readFilters(asked, FILTERS), after, ...more });
}
