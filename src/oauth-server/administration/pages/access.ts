import { AccessError } from '../../errors.ts';
import type { AuthorizationFilter } from '../../store/held.ts';
import { filterForm, filtersOf, personIn, type Filter } from '../filters.ts';
import { holdingRows } from '../holding.ts';
import { withQuery } from '../links.ts';
import { markup } from '../markup.ts';
import type { Asked, Page } from '../page.ts';
import { alert, notice } from '../shown.ts';

const DONE = {
  revoked: 'Done: that authorization has ended, with every token of it.',
  ended: 'It had ended before.',
};

/** As the console's options. */
const FILTERS: readonly Filter[] = [
  { name: 'client', text: 'Application (its id)' },
  { name: 'provider', text: 'Provider of the person' },
  { name: 'person', text: 'Id of the person there' },
  { name: 'scope', text: 'Scope' },
  { name: 'unused_days', text: 'Days without use' },
];

/** /oauth/admin/access: the authorizations that live, newest first. */
export const access: Page = {
  async show(asked, refused) {
    const { parts, query, links } = asked;
    const title = 'Who holds access';
    const form = filterForm(asked, links.access, FILTERS);
    try {
      const after = query.get('after');
      const page = after === undefined ? {} : { after };
      const { items, next } = await parts.server.access.list(filterOf(asked), page);
      const none = next === null ? 'No authorization that lives fits.' : NONE_YET;
      return {
        title,
        body: markup`${form}
      ${notice(asked, DONE)}${alert(refused)}
      ${items.length === 0 ? markup`<p>${none}</p>` : holdingRows(items, asked, here(asked, page))}
      ${next === null ? null : markup`<p><a class="button" href="${here(asked, { after: next })}">Go on: older ones</a></p>`}`,
      };
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      return { title, status: 400, body: markup`${form}${alert({ reason: error.message })}` };
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
function filterOf(asked: Asked): AuthorizationFilter {
  const { query, parts } = asked;
  const [clientId, scope, days] = [query.get('client'), query.get('scope'), query.get('unused_days')];
  const person = personIn(asked);
  if (days !== undefined && !/^\d{1,5}$/.test(days)) {
    throw new AccessError('How long it was not used is a number of days, such as 90');
  }
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(person === null ? {} : { person }),
    ...(scope === undefined ? {} : { scope }),
    ...(days === undefined ? {} : { unusedSince: parts.server.clock() - Number(days) * A_DAY }),
  };
}

/** This list, filtered as it is. */
function here(asked: Asked, more: Readonly<Record<string, string>>): string {
  return withQuery(asked.links.access, { ...filtersOf(asked, FILTERS), ...more });
}
