import { countRows, getTokens } from 'portico/extension';
import { registrationLink } from '../links.ts';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { code, facts } from '../formatting.ts';

/** The maximum number of rows to read for each count on the page. */
const EXAMINED = 5000;

/**
 * The page GET /oauth/admin. It shows counts, such as the number of applications, and links to all
 * pages.
 */
export const overview: Page = {
  async show(asked) {
    const { parts, links } = asked;
    const { server } = parts;
    const ways: readonly (readonly [href: string, text: string, about: string])[] = [
      ...(getTokens(server.arrivals) === null
        ? []
        : [
            [
              links.registration,
              'Registration',
              'tokens that let applications register themselves',
            ] as const,
          ]),
      [links.audit, 'Audit', 'what happened and who did it (kept events only)'],
      [links.doctor, 'Doctor', 'checks every part of this server; changes nothing'],
    ];
    return {
      title: 'Overview',
      body: markup`
      ${await numbers(asked)}
      <p class="choices"><a class="button primary" href="${registrationLink(links)}">Register an application</a><a class="button" href="${links.access}">Find a person</a></p>
      <ul class="rows" role="list">${ways.map(
        ([href, text, about]) => markup`
        <li><h2 class="head"><a href="${href}">${text}</a></h2><p class="soft">${about}</p></li>`,
      )}
      </ul>
      <h2>This server</h2>
      ${facts([
        ['Issuer', code(server.issuer)],
        ['Profile', server.profiles.servers?.name ?? null],
        [
          'How applications register',
          ['by an operator', ...server.arrivals.map(({ as }) => as)].join('; '),
        ],
      ])}
      <p class="soft">The console can do the same: <code>npx portico --help</code>. The audit log records what you do here, with your account.</p>`,
    };
  },
};

/**
 * Returns the counts for the page. Reads at most `EXAMINED` rows for each count, so that large
 * tables do not slow down the page. If a table has more rows, the page shows the count with "or
 * more".
 */
async function numbers({ parts, links }: Asked): Promise<Html> {
  const { server, database, store } = parts;
  const now = server.clock();
  const clientsWith = (condition: string, values: readonly number[]) =>
    countRows(database, ['oauth_clients', 'client_id'], [condition, values], '', EXAMINED);
  const [clients, rotations, held, keys] = await Promise.all([
    clientsWith('revoked_at IS NULL', []),
    clientsWith('revoked_at IS NULL AND previous_secret_expires_at > ?', [now]),
    store.countHeld(EXAMINED, now),
    server.keys.list(),
  ]);
  const ofState = (...states: readonly string[]) =>
    keys.filter(({ state }) => states.includes(state)).length;
  const tiles: readonly (readonly [href: string, text: string, count: number, isAll: boolean])[] = [
    [links.clients, 'Applications', clients.living, clients.last === null],
    [links.access, 'People with access', held.people, held.isAll],
    [links.access, 'Authorizations', held.authorizations, held.isAll],
    [links.rotations, 'Open rotations', rotations.living, rotations.last === null],
    [links.keys, 'Keys that sign', ofState('signing'), true],
    [links.keys, 'Keys that no longer sign', ofState('retired'), true],
  ];
  return markup`<ul class="tiles" role="list">${tiles.map(
    ([href, text, count, isAll]) => markup`
        <li><a href="${href}"><strong>${counted(count, isAll)}</strong> <span>${text}</span></a></li>`,
  )}
      </ul>`;
}

function counted(count: number, isAll: boolean): HtmlContent {
  const number = count.toLocaleString('en');
  return isAll
    ? number
    : markup`${number}<span aria-hidden="true">+</span><span class="unseen"> or more</span>`;
}
