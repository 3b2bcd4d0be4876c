import { AccessError, type AuditFilter, type AuditRecord, type PersonReference } from 'portico';
import { EVENT_TYPES, isDay, OutOfRangeError } from 'portico/extension';
import { filterForm, readFilters, personIn, type Filter } from '../filters.ts';
import { withQuery } from '../links.ts';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { knownPeople, type KnownPerson } from '../people.ts';
import { aboutPerson, alert, calledBy, code, moment } from '../formatting.ts';

const FILTERS: readonly Filter[] = [
  { name: 'type', text: 'Type', options: EVENT_TYPES },
  { name: 'client', text: 'Application (its id)' },
  { name: 'provider', text: 'Provider of the person' },
  { name: 'person', text: 'Person id' },
  { name: 'authorization', text: 'Authorization (its id)' },
  { name: 'since', text: 'From (day)', type: 'date' },
  { name: 'until', text: 'Before (day)', type: 'date' },
];

/** The page GET /oauth/admin/audit. It shows the stored audit events, newest first. */
export const audit: Page = {
  async show(asked) {
    const { parts, query, links } = asked;
    const title = 'Audit';
    const form = filterForm(asked, links.audit, FILTERS);
    try {
      const after = query.get('after');
      const page = after === undefined ? {} : { after };
      const { items, next } = await parts.server.audit.list(readFilter(asked), page);
      const more =
        next === null
          ? null
          : withQuery(links.audit, { ...readFilters(asked, FILTERS), after: next });
      const people = items
        .flatMap(({ person, by }) => [person, by])
        .filter((each) => each !== null && each !== 'console');
      const known = await knownPeople(parts.server.host, people);
      return {
        title,
        body: markup`${form}
      ${items.length === 0 ? markup`<p>${none(asked, next)}</p>` : markup`<ul class="rows" role="list">${items.map((each) => row(each, asked, known))}</ul>`}
      ${more === null ? null : markup`<p><a class="button" href="${more}">Show older ones</a></p>`}`,
      };
    } catch (error) {
      if (!(error instanceof AccessError || error instanceof OutOfRangeError)) throw error;
      return { title, status: 400, body: markup`${form}${alert({ reason: error.message })}` };
    }
  },
};

function readFilter(asked: Asked): AuditFilter {
  const { query } = asked;
  const [clientId, asType] = [query.get('client'), query.get('type')];
  const type = EVENT_TYPES.find((each) => each === asType);
  const authorization = query.get('authorization');
  const [person, since, until] = [personIn(asked), dayIn(asked, 'since'), dayIn(asked, 'until')];
  if (type === undefined && asType !== undefined) throw new AccessError('Unknown event type');
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(authorization === undefined ? {} : { authorization }),
    ...(type === undefined ? {} : { type }),
    ...(person === null ? {} : { person }),
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
  };
}

/**
 * Returns when the day in this parameter starts in UTC, in milliseconds since 1970. Returns null if
 * the parameter is missing.
 */
function dayIn({ query }: Asked, name: string): number | null {
  const text = query.get(name);
  if (text === undefined) return null;
  if (!isDay(text)) throw new AccessError('Enter a date such as 2026-01-31');
  return Date.parse(text);
}

function none({ parts }: Asked, next: string | null): string {
  if (next !== null) return 'No matches so far. There are more rows to search.';
  return parts.server.audit.keeps
    ? 'No event matches.'
    : 'No events are kept, because oauth_server:audit:keep is off.';
}

function row(
  record: AuditRecord,
  { links }: Asked,
  who: (person: PersonReference) => KnownPerson,
): Html {
  const { at, type, clientId, person, by, address, requestId, authorization, reason, details } =
    record;
  const shownPerson = (of: PersonReference) =>
    markup`<a href="${links.person(of.provider, of.id)}">${calledBy(of, who(of))}</a> ${aboutPerson(of, { ...who(of), account: 'unknown' })}`;
  const told: readonly (readonly [string, HtmlContent])[] = [
    ['by', by === null ? null : by === 'console' ? 'the console' : shownPerson(by)],
    ['person', person === null ? null : shownPerson(person)],
    [
      'application',
      clientId === null ? null : markup`<a href="${links.client(clientId)}">${code(clientId)}</a>`,
    ],
    ['reason', reason],
    ['authorization', authorization === null ? null : code(authorization)],
    ['address', address === null ? null : code(address)],
    ['request', requestId === null ? null : code(requestId)],
    ['details', Object.keys(details).length === 0 ? null : code(JSON.stringify(details))],
  ];
  const known = told.filter(([, value]) => value !== null);
  return markup`
        <li>
          <h2 class="head">${type} <span class="soft">${moment(at)}</span></h2>
          <p class="soft">${known.map(([name, value], index) => markup`${index === 0 ? '' : ' · '}${name} ${value}`)}</p>
        </li>`;
}
