import type { PersonReference } from '../contracts/person.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { sentCookies } from '../http/cookies.ts';
import { Note } from '../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Sealer } from '../server.ts';

interface Browser {
  readonly value: string;
  /** The person, as a keyed hash; empty until a person is signed in. */
  readonly person: string;
  /** The cookie that the browser sent; null for a new one. */
  readonly sealed: string | null;
  /** Whether the browser gets another cookie in any case. */
  readonly renewed: boolean;
}

/** Over http a sibling domain can plant another cookie of this name. */
type Candidates = readonly [Browser, ...Browser[]];

/** The random bits, and the hash of the person after them. */
const CONTENT = /^([\w-]{43})((?:[\w-]{43})?)$/;
/** In characters; ours have about a hundred and fifty. */
const LONGEST_VALUE = 200;
/**
 * How many cookies of the name are tried, starting from the last: over http a sibling domain can
 * plant others. Browsers send those of a longer path first (RFC 6265 section 5.4), and for one path
 * a domain above ours has at most one.
 */
const MOST_TRIED = 4;

/**
 * Tells browsers apart with a cookie, for a host without `browserSecret`. The cookie has 256 random
 * bits and, once a person is signed in, the person. It is encrypted: an attacker who plants a
 * cookie in a browser does not know its content (decision 30).
 */
export class Browsers {
  readonly #sealer: Sealer;
  readonly #name: string;
  readonly #attributes: string;
  readonly #seen = new Note<Candidates>('browsers');

  /**
   * Over https the cookie belongs to this host only (`__Host-`). Two installations below different
   * base paths have different cookies.
   */
  constructor(sealer: Sealer, issuer: string, basePath: string) {
    const secure = issuer.startsWith('https:');
    this.#sealer = sealer;
    this.#name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * What consent is bound to: this browser's secret for this person, the same until another person
   * asks for theirs.
   */
  async secret(request: Request, { provider, id }: PersonReference): Promise<string> {
    const browsers = await this.#browsersOf(request);
    const personIn = ({ value }: Browser) => keyedHash(value, 'person', provider, id);
    const browser =
      browsers.find((each) => each.person === personIn(each)) ??
      browsers.find((each) => each.person === '') ??
      // Another person was signed in before.
      newBrowser(true);
    const renewed = browser.renewed || (browser.person === '' && browser.sealed !== null);
    this.#seen.set(request, [{ ...browser, person: personIn(browser), renewed }]);
    return keyedHash(browser.value, 'browser', provider, id);
  }

  /**
   * Gives the browser another cookie with the answer to this request, for the next person who signs
   * in.
   */
  renew(request: Request): void {
    this.#seen.set(request, [newBrowser(true)]);
  }

  /**
   * The `Set-Cookie` header for the answer to this request; null if the browser keeps its cookie.
   */
  async setCookie(request: Request): Promise<string | null> {
    const [{ value, person, sealed, renewed }] = await this.#browsersOf(request);
    const keepsIt = sealed === null ? !isNavigation(request) : this.#sealer.isCurrent(sealed);
    if (keepsIt && !renewed) return null;
    return `${this.#name}=${await this.#sealer.seal(this.#name, value + person)}; ${this.#attributes}`;
  }

  /** The content of the request's cookies, or a new one. */
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
      const [, value, person = ''] = CONTENT.exec((await this.#sealer.open(name, sealed)) ?? '') ?? [];
      if (value !== undefined) browsers.push({ value, person, sealed, renewed: false });
    }
    return browsers;
  }
}

function newBrowser(renewed: boolean): Browser {
  return { value: randomToken(), person: '', sealed: null, renewed };
}

/**
 * A form from another site, and an embedded page, come without the browser's cookie. With a new
 * cookie the browser would lose its open questions.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
