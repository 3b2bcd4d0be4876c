import type { PersonReference } from '../person.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { sentCookies } from '../http/cookies.ts';
import { Note } from '../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Sealer } from '../server.ts';

interface Browser {
  readonly value: string;
  /** A keyed hash of the person. Empty until a person is signed in. */
  readonly person: string;
  /** The cookie that the browser sent, or null. */
  readonly sealed: string | null;
  /** Whether the response sets a new cookie although the browser's current cookie is valid. */
  readonly renewed: boolean;
}

/**
 * The possible cookies of a browser. There can be several: over http, a sibling domain can set a
 * cookie with the same name.
 */
type Candidates = readonly [Browser, ...Browser[]];

/** Matches the random bits, followed by the person's hash if a person is signed in. */
const CONTENT = /^([\w-]{43})((?:[\w-]{43})?)$/;
/**
 * The maximum length of a cookie's value, in characters. Portico's cookies have about 150
 * characters.
 */
const LONGEST_VALUE = 200;
/**
 * How many cookies with this name Portico tries, starting with the last. Over http, a sibling
 * domain can set cookies with the same name. Browsers send cookies with a longer path first (RFC
 * 6265 section 5.4). So Portico's cookie can be followed only by cookies for the same path, at most
 * one for each parent domain.
 */
const MOST_TRIED = 4;

/**
 * Identifies browsers by a cookie, for a host without `browserSecret`. The cookie contains 256
 * random bits. After a person has signed in, it also contains a hash of the person. The content is
 * encrypted, so an attacker who sets a cookie in a browser does not know the content (decision 30).
 */
export class Browsers {
  readonly #sealer: Sealer;
  readonly #name: string;
  readonly #attributes: string;
  readonly #seen = new Note<Candidates>('browsers');

  /**
   * Over https, the cookie's name starts with `__Host-`, so that only this host can set it. The
   * name also contains the base path, so that two installations on one host have separate cookies.
   */
  constructor(sealer: Sealer, issuer: string, basePath: string) {
    const secure = issuer.startsWith('https:');
    this.#sealer = sealer;
    this.#name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * Returns this browser's secret for this person. Consent is bound to the secret. The secret stays
   * the same until this method is called for another person.
   */
  async secret(request: Request, { provider, id }: PersonReference): Promise<string> {
    const browsers = await this.#browsersOf(request);
    const personIn = ({ value }: Browser) => keyedHash(value, 'person', provider, id);
    const browser =
      browsers.find((each) => each.person === personIn(each)) ??
      browsers.find((each) => each.person === '') ??
      // All cookies belong to other people, so create a new cookie.
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
   * Returns the `Set-Cookie` header for the response to this request, or null if the browser keeps
   * its cookie.
   */
  async setCookie(request: Request): Promise<string | null> {
    const [{ value, person, sealed, renewed }] = await this.#browsersOf(request);
    const keepsIt = sealed === null ? !isNavigation(request) : this.#sealer.isCurrent(sealed);
    if (keepsIt && !renewed) return null;
    return `${this.#name}=${await this.#sealer.seal(this.#name, value + person)}; ${this.#attributes}`;
  }

  /**
   * Returns what the request's cookies contain. If there are none, returns the content for a new
   * cookie.
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
 * Whether the browser opens a page. Only then does Portico set a cookie in a browser that sent no
 * cookie. Browsers also send no cookie with forms from another site and with embedded pages. There,
 * a new cookie would replace the browser's existing cookie, and the person could no longer answer
 * open consent pages.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
