import { AccessError } from '../../errors.ts';
import type { AuthorizationFilter } from '../../store/held.ts';
import { holdingRows } from '../holding.ts';
import { withQuery } from '../links.ts';
import { markup, type Content, type Markup } from '../markup.ts';
import type { Asked, Page, Shown } from '../page.ts';
import { alert, notice } from '../shown.ts';

const DONE = {
  revoked: 'Done: that authorization has ended, with every token of it.',
  ended: 'It had ended before.',
};

/** How they are sent, and shown: as the console's options. */
const FILTERS = [
  ['client', 'Application (its id)'],
  ['provider', 'Provider of the person'],
  ['person', 'Id of the person there'],
  ['scope', 'Scope'],
  ['unused_days', 'Not used for so many days'],
] as const;

/** /oauth/admin/access: the authorizations that live, newest first. */
export const access: Page = {
  async show(asked, refused) {
    const { parts, query } = asked;
    try {
      const { items, next } = await parts.server.access.list(filterOf(asked), pageOf(asked));
      const none = next === null ? 'No authorization that lives fits.' : NONE_YET;
      return page(
        asked,
        markup`
      ${notice(asked, DONE)}${alert(refused)}
      ${items.length === 0 ? markup`<p>${none}</p>` : holdingRows(items, asked, here(asked, { after: query.get('after') ?? '' }))}
      ${next === null ? null : markup`<p><a class="button" href="${here(asked, { after: next })}">Go on: older ones</a></p>`}`,
      );
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      return { ...page(asked, alert({ reason: error.message })), status: 400 };
    }
  },

  async act(sent) {
    const { form, accept, parts, person } = sent;
    if (form.get('do') !== 'revoke') return null;
    const id = form.get('id') ?? '';
    await accept({ action: 'revoke', target: id, state: null });
    const { revoked } = await parts.server.access.revokeAuthorization(id, { by: person });
    return { goTo: here(sent, { done: revoked ? 'revoked' : 'ended' }) };
  },
};

const NONE_YET = 'None fits of those that were looked at, and there are more.';

const A_DAY = 86_400_000;

/** Throws an AccessError for what nobody can be asked for. */
function filterOf({ query, parts: { server } }: Asked): AuthorizationFilter {
  const [clientId, provider, id, scope] = ['client', 'provider', 'person', 'scope'].map((name) =>
    query.get(name),
  );
  const days = query.get('unused_days');
  if ((provider === undefined) !== (id === undefined)) {
    throw new AccessError('A person is the name of the provider, and the id of the person there');
  }
  if (days !== undefined && !/^\d{1,5}$/.test(days)) {
    throw new AccessError('How long it was not used is a number of days, such as 90');
  }
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(provider === undefined || id === undefined ? {} : { person: { provider, id } }),
    ...(scope === undefined ? {} : { scope }),
    ...(days === undefined ? {} : { unusedSince: server.clock() - Number(days) * A_DAY }),
  };
}

function pageOf({ query }: Asked): { readonly after?: string } {
  const after = query.get('after');
  return after === undefined ? {} : { after };
}

/** This list, filtered as it is. */
function here({ links, query }: Asked, more: Readonly<Record<string, string>>): string {
  const filters = FILTERS.map(([name]) => [name, query.get(name) ?? ''] as const);
  return withQuery(links.access, { ...Object.fromEntries(filters), ...more });
}

function page(asked: Asked, body: Content): Shown {
  return { title: 'Who holds access', body: markup`${filterForm(asked)}${body}` };
}

function filterForm({ links, query }: Asked): Markup {
  return markup`
      <form method="get" action="${links.access}" class="filters">
        ${FILTERS.map(
          ([name, text]) => markup`
        <div><label for="${name}">${text}</label><input id="${name}" name="${name}" value="${query.get(name)}" autocomplete="off" spellcheck="false"></div>`,
        )}
        <div><button type="submit">Show these</button></div>
      </form>`;
}
