import { KnownBrowsers } from '../../../packages/kit/src/accounts/known-browsers.ts';
import { readRandomValue } from '../../../packages/kit/src/http/cookies.ts';
import { cookiesIn } from '../../../packages/portico/src/http/cookies.ts';
import { WaitingRequests } from '../../../packages/portico/src/authorization/waiting-requests.ts';
import { CookieSealer, Sealing } from '../../../packages/portico/src/authorization/cookie-keys.ts';
import type { Server } from '../../../packages/portico/src/server.ts';
import { hold, type Target } from '../target.ts';
import type { CookieKeyRecords } from '../../../packages/portico/src/store/sql/cookie-keys.ts';
import type { WaitingRequestRecords } from '../../../packages/portico/src/store/sql/waiting-requests.ts';

const NOW = 1_800_000_000_000;
const LIFETIME = 600_000;
const REQUEST_ID = 'R'.repeat(43);
const NAME = `__Secure-portico_request_${REQUEST_ID}`;
const PLACEHOLDERS = /\{(sealed|other|known|sealing)\}/g;

/**
 * The input is a `Cookie` header. `{sealed}` and similar texts stand for values that this server
 * created.
 */
export const target: Target = {
  about:
    'cookies: those of waiting requests, which are sealed, of known browsers, of sessions, and what else is sealed',
  seeds: [
    `${NAME}={sealed}; a=b`,
    `${NAME}={other}`,
    `__Host-portico_session=${'A'.repeat(43)};${NAME}=1.AAAA`,
    '__Host-portico_known={known}.{known}',
    'a=b;; =c; d',
    `\u00A0${NAME}={sealed}`,
    '{sealing}',
    `${NAME}=694.${'A'.repeat(60)}`,
    `${NAME}={sealed}A`,
  ],
  dictionary: [
    NAME,
    '{sealed}',
    '{other}',
    '{known}',
    '{sealing}',
    '__Host-portico_session=',
    '__Host-portico_known=',
    '; ',
    '=',
    '.',
    '-',
    '694.',
    'A',
    '_',
    '\u00A0',
    '"',
  ],
  async start() {
    const periods = new Map<number, string>();
    const clock = () => NOW;
    const store = {
      async cookieKey(period: number, candidate: string) {
        if (!periods.has(period)) periods.set(period, candidate);
        return periods.get(period) ?? candidate;
      },
      async findCookieKey(period: number) {
        hold(
          periods.size < 3 && period >= 600 && period <= 700,
          'a number that somebody made up reached the store',
        );
        return periods.get(period) ?? null;
      },
    } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
    const waitingRequests = {
      keepWaitingRequest: async () => true,
      findWaitingRequest: async () => null,
      endWaitingRequest: async () => {},
    } satisfies Partial<WaitingRequestRecords>;
    const server = {
      store: { waitingRequests },
      sealer: new CookieSealer(store, clock, LIFETIME),
      host: { clientAddress: () => null },
      pruning: { tick: async () => {} },
      clock,
      config: { consent_ttl: LIFETIME / 1000 },
      paths: { authorize: '/oauth/authorize' },
      issuer: 'https://app.example',
    } as unknown as Server;
    const sealing = new Sealing(server);
    const waiting = new WaitingRequests(server);
    const database = { execute: async () => ({ rows: [{ value: 'k'.repeat(43) }] }) } as never;
    const known = new KnownBrowsers(database, { secure: true, basePath: '' }, [], clock);
    const url = 'https://app.example/oauth/authorize';
    const begun = await waiting.begin(new Request(url), {
      sent: [['client_id', 'a']],
      direct: false,
      requestId: REQUEST_ID,
    });
    const other = await waiting.begin(new Request(url), {
      sent: [['client_id', 'b']],
      direct: false,
    });
    const valueOf = (cookie = '') => cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'));
    const remembering = known.of(new Request(url));
    await remembering.remember('ada');
    const made: Readonly<Record<string, string>> = {
      sealed: valueOf(begun.cookies[0]),
      other: valueOf(other.cookies[0]),
      known: valueOf(remembering.setCookie() ?? ''),
      sealing: await sealing.seal('a purpose', 'text'),
    };
    return async (input) => {
      const header = input
        .toString('latin1')
        .replaceAll(PLACEHOLDERS, (_, name: string) => made[name] ?? '')
        .replaceAll(/[\0\r\n]/g, '');
      const request = new Request(url, { headers: { Cookie: header } });
      const sent = request.headers.get('cookie') ?? '';
      const cookies = cookiesIn(sent);
      hold(
        cookies.every(([name, value]) => !/[;=]/.test(name) && !value.includes(';')),
        'a cookie was not parted',
      );
      const found = await waiting.find(request, REQUEST_ID);
      const own = cookies.filter(([name]) => name === NAME).map(([, value]) => value);
      if (found !== null) {
        hold(own.includes(made['sealed'] ?? ''), 'a cookie was opened that was not made here');
        hold(
          JSON.stringify(found.sent) === '[["client_id","a"]]' && !found.direct,
          'a cookie says something else',
        );
      } else hold(!own.includes(made['sealed'] ?? ''), 'a cookie of ours was not opened');
      for (const [, value] of [...cookies.slice(0, 5), ['', sent] as const]) {
        const text = await sealing.open('a purpose', value);
        hold(
          text === null || (text === 'text' && value === made['sealing']),
          'a text was opened that was not sealed here',
        );
      }
      const removed = await waiting.removeSurplus(request, REQUEST_ID);
      hold(
        removed.every((each) => /^__Secure-portico_request_[\w-]{43}=; Path=/.test(each)),
        'a cookie that is not ours is removed',
      );
      const isKnown = await known.of(request).knows('ada');
      const proof = made['known'] ?? '';
      const bearsProof = cookies.some(
        ([name, value]) => name === '__Host-portico_known' && value.split('.').includes(proof),
      );
      hold(!isKnown || bearsProof, 'a browser is known that nobody signed in with');
      hold(!(await known.of(request).knows('grace')), 'a browser is known for another account');
      const session = readRandomValue(request, '__Host-portico_session');
      hold(
        session === null || /^[A-Za-z0-9_-]{43}$/.test(session),
        'a session id that is none was read',
      );
    };
  },
};
