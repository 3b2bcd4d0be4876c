import type { PersonReference } from '../person.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { sentCookies } from '../http/cookies.ts';
import { Note } from '../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Sealer } from '../server.ts';

interface Browser {
  readonly value: string;
  /** A keyed hash of the person. Empty if no person has signed in yet. */
  readonly person: string;
  /** The encrypted value of the cookie that the browser sent, or null if it sent no valid one. */
  readonly sealed: string | null;
  /** Whether the response must set a new cookie, even if the browser's current cookie is valid. */
  readonly renewed: boolean;
}

/**
 * The possible contents of a browser's cookies. There can be several cookies with the same name,
 * because over http, a sibling domain can set one.
 */
type Candidates = readonly [Browser, ...Browser[]];

/**
 * Matches the content of the cookie: the random bits, and the hash of the person if one has signed
 * in.
 */
const CONTENT = /^([\w-]{43})((?:[\w-]{43})?)$/;
/**
 * The maximum length of the cookie's value, in characters. Portico's own values are about 150
 * characters long.
 */
const LONGEST_VALUE = 200;
/**
 * How many of the cookies with this name to try. Only the last ones are tried. Over http, a sibling
 * domain can also set cookies with this name. Browsers send cookies with longer paths first (RFC
 * 6265 section 5.4). Only cookies with the same path can therefore follow Portico's cookie: at most
 * one for each parent domain.
 */
const MOST_TRIED = 4;

/**
 * Identifies browsers by a cookie if the host does not have `browserSecret`. The cookie contains
 * 256 random bits. After a person has signed in, it also contains a hash of this person. The
 * content is encrypted, so an attacker who sets a cookie in another person's browser does not know
 * the content (decision 30).
 */
export class Browsers {
  readonly #sealer: Sealer;
  readonly #name: string;
  readonly #attributes: string;
  readonly #seen = new Note<Candidates>('browsers');

  /**
   * With https, the cookie's name begins with `__Host-`, so that only this host can set the cookie.
   * The name also contains the base path, so that two installations on one host use different
   * cookies.
   */
  constructor(sealer: Sealer, issuer: string, basePath: string) {
    const secure = issuer.startsWith('https:');
    this.#sealer = sealer;
    this.#name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * Returns the secret of this browser for this person. Consent is bound to this secret. The secret
   * stays the same until this method is called for another person.
   */
  async secret(request: Request, { provider, id }: PersonReference): Promise<string> {
    const browsers = await this.#browsersOf(request);
    const personIn = ({ value }: Browser) => keyedHash(value, 'person', provider, id);
    const browser =
      browsers.find((each) => each.person === personIn(each)) ??
      browsers.find((each) => each.person === '') ??
      // All cookies belong to other people, so create a new one.
      newBrowser(true);
    const renewed = browser.renewed || (browser.person === '' && browser.sealed !== null);
    this.#seen.set(request, [{ ...browser, person: personIn(browser), renewed }]);
    return keyedHash(browser.value, 'browser', provider, id);
  }

  /**
   * Makes the response set a new cookie, so that the next person who signs in gets a new secret.
   */
  renew(request: Request): void {
    this.#seen.set(request, [newBrowser(true)]);
  }

  /**
   * Returns the `Set-Cookie` header for the response, or null if the browser keeps its current
   * cookie.
   */
  async setCookie(request: Request): Promise<string | null> {
    const [{ value, person, sealed, renewed }] = await this.#browsersOf(request);
    const keepsIt = sealed === null ? !isNavigation(request) : this.#sealer.isCurrent(sealed);
    if (keepsIt && !renewed) return null;
    return `${this.#name}=${await this.#sealer.seal(this.#name, value + person)}; ${this.#attributes}`;
  }

  /**
   * Returns the content of the cookies in the request. If there are none, returns the content for a
   * new cookie.
   */
  async #browsersOf(request: Request): Promise<Candidates> {
    const known = this.#seen.of(request);
    if (known !== undefined) return known;
    const [first = newBrowser(false), ...others] = await this.#sentBrowsers(request);
    return [first, ...others];
  }

  async #sentBrowsers(request: Request): Promise<readonly Browser[]> {
    const name = this.#name;
    const values = sentCookies(request).flatMap(([each, value]) =>
      each === name && value.length <= LONGEST_VALUE ? [value] : [],
    );
    const browsers: Browser[] = [];
    for (const sealed of values.slice(-MOST_TRIED)) {
      const [, value, person = ''] =
        CONTENT.exec((await this.#sealer.open(name, sealed)) ?? '') ?? [];
      if (value !== undefined) browsers.push({ value, person, sealed, renewed: false });
    }
    return browsers;
  }
}

function newBrowser(renewed: boolean): Browser {
  return { value: randomToken(), person: '', sealed: null, renewed };
}

/**
 * Whether the browser is opening a page. If a browser has sent no cookie, Portico sets one only in
 * this case. Browsers also omit cookies from forms on other sites and from embedded pages. Setting
 * a new cookie there would replace the existing one, and the person could no longer answer open
 * consent pages.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
