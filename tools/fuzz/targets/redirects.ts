import { returnPath } from '../../../packages/portico/src/http/return-path.ts';
import {
  mayRedirectWith,
  answerGoesTo,
  redirectUriProblem,
  redirectWith,
} from '../../../packages/portico/src/clients/redirect-uris.ts';
import { isOnAnotherPort } from '../../../packages/portico/src/features/native-loopback/matching.ts';
import { fetchableUrlProblem } from '../../../packages/portico/src/http/outbound/fetchable-urls.ts';
import { urlRefusal } from '../../../packages/portico/src/features/client-documents/client-urls.ts';
import { checkSite } from '../../../packages/portico/src/clients/sites.ts';
import { containsLookalike, looksLike } from '../../../packages/portico/src/clients/lookalikes.ts';
import { RegistrationError } from '../../../packages/portico/src/errors.ts';
import { hold, unless, type Target } from '../target.ts';

const isRegistered = mayRedirectWith([isOnAnotherPort]);
const RESPONSE = { code: 'c', state: 's&t=1', iss: 'https://app.example' };
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const NATIVE = [
  'http://127.0.0.1/cb',
  'http://[::1]:9/cb?x=1',
  'http://localhost:8080',
  'com.example.app:/cb',
];

function registrable(uri: string): void {
  for (const type of ['web', 'native'] as const) {
    if (redirectUriProblem(uri, type) !== null) continue;
    const url = new URL(uri);
    hold(url.hash === '' && !uri.includes('#'), 'a redirect URI with a fragment was taken');
    hold(url.username === '' && url.password === '', 'a redirect URI with credentials was taken');
    const isWeb =
      url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
    const isPrivate = type === 'native' && url.protocol.includes('.');
    hold(isWeb || isPrivate, 'a redirect URI of another scheme was taken');
    // Browsers open the first host, and people see that host. There must not be another host after
    // an @.
    if (isWeb)
      hold(/^https?:\/\/[^/?#\\@]+(?:[/?\\]|$)/i.test(uri), 'the host is not what it looks like');
    const answer = redirectWith(uri, RESPONSE);
    const to = new URL(answer);
    hold(
      to.protocol === url.protocol && to.host === url.host && to.pathname === url.pathname,
      'the answer goes elsewhere',
    );
    for (const [name, value] of Object.entries(RESPONSE)) {
      hold(
        JSON.stringify(to.searchParams.getAll(name)) === JSON.stringify([value]),
        'the answer can be read in two ways',
      );
    }
    for (const [name, value] of [...url.searchParams].slice(0, 20))
      hold(to.searchParams.getAll(name).includes(value), 'the query was changed');
    hold(answerGoesTo(uri) !== '', 'nobody is told where the answer goes');
    hold(
      isRegistered({ redirectUris: [uri], applicationType: type }, uri),
      'what is registered is not found',
    );
  }
}

export const target: Target = {
  about:
    'redirect URIs (registered and sent), ids that are URLs, return paths, addresses of sites, names that look alike',
  seeds: [
    'https://client.example/cb',
    'https://client.example:8443/cb?x=1&',
    'http://127.0.0.1:4711/cb',
    'http://[::1]/cb',
    'http://localhost',
    'com.example.app:/callback',
    'https://evil.example\\@client.example/',
    '//evil.example',
    '/applications?x=1#y',
    '/\\evil',
    'https://@host/',
    'https://xn--bcher-kva.example/client.json',
    'Port\u0430l',
    'https://client.example/a/%2e%2e/b',
  ],
  dictionary: [
    'https://',
    'http://',
    '127.0.0.1',
    '[::1]',
    'localhost',
    ':80',
    ':443',
    ':0',
    ':065',
    '@',
    '\\',
    '?',
    '#',
    '*',
    '&',
    '%2f',
    '%2e',
    '..',
    '?code=',
    '&state=',
    '.example',
    'client',
    'javascript:',
    'data:',
    'com.example:',
    '\t',
    '\n',
    'xn--',
    '\u3002',
    '\u2488',
    '/./',
  ],
  start() {
    return (input) => {
      const text = input.toString('utf8');
      registrable(text);
      for (const redirectUris of [NATIVE, [NATIVE[0] ?? '', text]]) {
        if (
          redirectUris.includes(text) ||
          !isRegistered({ redirectUris: NATIVE, applicationType: 'native' }, text)
        )
          continue;
        const url = new URL(text);
        const same = NATIVE.some((each) => {
          const own = new URL(each);
          return (
            LOOPBACK.has(own.hostname) &&
            own.protocol === url.protocol &&
            own.hostname === url.hostname &&
            own.pathname === url.pathname &&
            own.search === url.search &&
            own.hash === url.hash &&
            url.username === ''
          );
        });
        hold(same, 'another address than the registered one was taken');
      }
      hold(
        !isRegistered(
          { redirectUris: ['https://client.example/cb'], applicationType: 'web' },
          text,
        ) || text === 'https://client.example/cb',
        'a web address was taken for another',
      );

      const path = returnPath(text);
      const back = new URL(path, 'https://app.example/login');
      hold(
        back.origin === 'https://app.example' && /^\/(?![/\\])[\x21-\x7E]*$/.test(path),
        'the way back leads elsewhere',
      );
      hold(returnPath(path) === path, 'the way back is another one the second time');

      if (fetchableUrlProblem(text) === null) {
        const url = new URL(text);
        hold(
          url.href === text &&
            url.protocol === 'https:' &&
            !/^[\d.]+$|^\[/.test(url.hostname) &&
            url.hash === '' &&
            url.username === '',
          'something is fetched that should not be',
        );
      }
      if (text.startsWith('https://'))
        hold(
          (urlRefusal(text, true) === null) === (fetchableUrlProblem(text) === null),
          'a client id is taken that is not fetched',
        );
      const site = unless(
        (error) => error instanceof RegistrationError,
        () => checkSite(text),
      );
      if (site !== null)
        hold(
          new URL(site).protocol === 'https:' && checkSite(site) === site,
          'a site of another kind was taken',
        );
      const name = text.slice(0, 200);
      if (looksLike(name, 'Portal'))
        hold(containsLookalike(name, 'Portal'), 'what looks alike is not contained');
    };
  },
};
