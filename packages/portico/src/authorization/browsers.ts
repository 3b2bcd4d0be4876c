import type { PersonReference } from '../person.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { sentCookies } from '../http/cookies.ts';
import { Note } from '../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Sealer } from '../server.ts';

interface Browser {
  readonly value: string;
  /** A keyed hash of the person. Empty until a person signs in. */
  readonly person: string;
  /** The encrypted cookie that the browser sent, or null if it sent no valid one. */
  readonly sealed: string | null;
  /** True if the response must set a new cookie, even if the current one is valid. */
  readonly renewed: boolean;
}

/** A browser can send several cookies with this name: over http, a sibling domain can set one. */
type Candidates = readonly [Browser, ...Browser[]];

const CONTENT = /^([\w-]{43})((?:[\w-]{43})?)$/;
/** The maximum length of the cookie's value. Portico's own values have about 150 characters. */
const LONGEST_VALUE = 200;
/**
 * Try only the last few cookies with this name. Over http, a sibling domain can set more of them.
 * Cookies with longer paths come first (RFC 6265 section 5.4). So only cookies with the same path
 * can follow Portico's cookie: at most one for each parent domain.
 */
const MOST_TRIED = 4;

/**
 * Identifies browsers by a cookie if the host does not have `browserSecret`. The cookie contains
 * 256 random bits, and a hash of the person who has signed in. An attacker can set a cookie in
 * another person's browser. The encryption hides its content from them (decision 30).
 */
export class Browsers {
  readonly #sealer: Sealer;
  readonly #name: string;
  readonly #attributes: string;
  readonly #seen = new Note<Candidates>('browsers');

  /**
   * With https, the name begins with `__Host-`: only this host can set such a cookie. It also
   * contains the base path, so two installations on one host do not share cookies.
   */
  constructor(sealer: Sealer, issuer: string, basePath: string) {
    const secure = issuer.startsWith('https:');
    this.#sealer = sealer;
    this.#name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * Returns this browser's secret for this person. Consent is bound to it. It stays the same until
   * this method is called for another person.
   */
  async secret(request: Request, { provider, id }: PersonReference): Promise<string> {
    const browsers = await this.#browsersOf(request);
    const personIn = ({ value }: Browser) => keyedHash(value, 'person', provider, id);
    const browser =
      browsers.find((each) => each.person === personIn(each)) ??
      browsers.find((each) => each.person === '') ??
      // All cookies belong to other people.
      newBrowser(true);
    const renewed = browser.renewed || (browser.person === '' && browser.sealed !== null);
    this.#seen.set(request, [{ ...browser, person: personIn(browser), renewed }]);
    return keyedHash(browser.value, 'browser', provider, id);
  }

  /** Sets a new cookie, so that the next person who signs in gets a new secret. */
  renew(request: Request): void {
    this.#seen.set(request, [newBrowser(true)]);
  }

  /** Returns the `Set-Cookie` header, or null if the browser keeps its cookie. */
  async setCookie(request: Request): Promise<string | null> {
    const [{ value, person, sealed, renewed }] = await this.#browsersOf(request);
    const keepsIt = sealed === null ? !isNavigation(request) : this.#sealer.isCurrent(sealed);
    if (keepsIt && !renewed) return null;
    return `${this.#name}=${await this.#sealer.seal(this.#name, value + person)}; ${this.#attributes}`;
  }

  /** Returns the content of the cookies. Without any, returns the content for a new cookie. */
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
 * Returns true if the browser is opening a page. Only then may Portico set the first cookie.
 * Browsers also omit cookies from forms on other sites and in embedded pages. A new cookie there
 * would replace the existing one. The person could then no longer answer open consent pages.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
