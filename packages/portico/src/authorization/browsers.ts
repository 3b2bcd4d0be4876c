import type { PersonReference } from '../contracts/person.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { sentCookies } from '../http/cookies.ts';
import { Note } from '../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Sealer } from '../server.ts';

/**
 * Tells browsers apart by a cookie, for a host without `browserSecret`. The cookie has 256 random bits and, once a person is
 * signed in, who they are for. It is encrypted: an attacker who plants a cookie in a browser does not know what is in it
 * (decision 30).
 */
export interface Browsers {
  /** What consent is bound to: this browser's secret for this person, the same until another person asks for theirs. */
  secret(request: Request, person: PersonReference): Promise<string>;
  /** Gives the browser another cookie with the answer to this request, for the person who signs in next. */
  renew(request: Request): void;
  /** The `Set-Cookie` header that the answer to this request must carry; null when the browser keeps what it has. */
  setCookie(request: Request): Promise<string | null>;
}

export interface BrowsersOptions {
  readonly sealer: Sealer;
  /** Over https the cookie is this host's alone (`__Host-`). */
  readonly issuer: string;
  /** Two installations below different base paths have different cookies. */
  readonly basePath: string;
}

interface Browser {
  readonly value: string;
  /** The person that it is for, as a keyed hash; empty until a person is signed in. */
  readonly person: string;
  /** The cookie that it came in; null for a new one. */
  readonly sealed: string | null;
  /** Whether it gets another cookie whatever it came with. */
  readonly renewed: boolean;
}

/** Over http a sibling domain can plant another beside ours. */
type Candidates = readonly [Browser, ...Browser[]];

/** The random bits, and the hash of the person behind them. */
const CONTENT = /^([\w-]{43})((?:[\w-]{43})?)$/;
/** In characters; ours have some hundred and fifty. */
const LONGEST_VALUE = 200;
/**
 * Cookies of the name that are tried, the last ones: over http a sibling domain can plant others beside ours. Browsers send those of
 * a longer path first (RFC 6265 section 5.4), and of one path a domain above ours has one at most.
 */
const MOST_TRIED = 4;

export function createBrowsers({ sealer, issuer, basePath }: BrowsersOptions): Browsers {
  const secure = issuer.startsWith('https:');
  const name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const seen = new Note<Candidates>('browsers');

  /** What the request's cookies open to, or else a new one. */
  async function browsersOf(request: Request): Promise<Candidates> {
    const known = seen.of(request);
    if (known !== undefined) return known;
    const [first = newBrowser(false), ...others] = await sentBrowsers(request);
    return [first, ...others];
  }

  async function sentBrowsers(request: Request): Promise<readonly Browser[]> {
    const values = sentCookies(request).flatMap(([each, value]) =>
      each === name && value.length <= LONGEST_VALUE ? [value] : [],
    );
    const browsers: Browser[] = [];
    for (const sealed of values.slice(-MOST_TRIED)) {
      const [, value, person = ''] = CONTENT.exec((await sealer.open(name, sealed)) ?? '') ?? [];
      if (value !== undefined) browsers.push({ value, person, sealed, renewed: false });
    }
    return browsers;
  }

  return {
    async secret(request, { provider, id }) {
      const browsers = await browsersOf(request);
      const personIn = ({ value }: Browser) => keyedHash(value, 'person', provider, id);
      const browser =
        browsers.find((each) => each.person === personIn(each)) ??
        browsers.find((each) => each.person === '') ??
        // Another person was signed in before.
        newBrowser(true);
      const renewed = browser.renewed || (browser.person === '' && browser.sealed !== null);
      seen.set(request, [{ ...browser, person: personIn(browser), renewed }]);
      return keyedHash(browser.value, 'browser', provider, id);
    },
    renew(request) {
      seen.set(request, [newBrowser(true)]);
    },
    async setCookie(request) {
      const [{ value, person, sealed, renewed }] = await browsersOf(request);
      const keepsIt = sealed === null ? !isNavigation(request) : sealer.isCurrent(sealed);
      if (keepsIt && !renewed) return null;
      return `${name}=${await sealer.seal(name, value + person)}; ${attributes}`;
    },
  };
}

function newBrowser(renewed: boolean): Browser {
  return { value: randomToken(), person: '', sealed: null, renewed };
}

/**
 * A form that another site sends, and a page that it embeds, come without the cookie, though the browser has one: with another it
 * would lose the questions that are open.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
