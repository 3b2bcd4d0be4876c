import type { PersonReference } from '../../contracts/person.ts';
import { cookieNameBelow } from '../../http/base-path.ts';
import { sentCookies } from '../../http/cookies.ts';
import { createNote } from '../../http/note.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { CookieSealer } from './cookie-keys.ts';

/**
 * Browsers, told apart by a cookie of Portico's own, for a host that keeps no `browserSecret` itself. The cookie holds 256 random
 * bits, encrypted: who plants one in somebody's browser does not know what is in it (decision 30).
 */
export interface Browsers {
  /** What consent is bound to: this browser's secret for this person, the same as long as the cookie is. */
  secret(request: Request, person: PersonReference): Promise<string>;
  /** Gives the browser another cookie with the answer to this request, for whoever signs in next. */
  renew(request: Request): void;
  /** The `Set-Cookie` header that the answer to this request must carry; null when the browser keeps what it has. */
  setCookie(request: Request): Promise<string | null>;
}

export interface BrowsersOptions {
  readonly sealer: CookieSealer;
  /** Over https the cookie is this host's alone (`__Host-`). */
  readonly issuer: string;
  /** Another installation below another one has a cookie of its own. */
  readonly basePath: string;
}

interface Browser {
  readonly value: string;
  /** The cookie that it came in; null for a new one. */
  readonly sealed: string | null;
  /** Whether it gets another cookie whatever it came with. */
  readonly renewed: boolean;
}

/** In characters; ours have some hundred. */
const LONGEST_VALUE = 200;
/** Cookies of the name that are tried: over http a sibling domain can plant others beside ours. */
const MOST_TRIED = 4;

export function createBrowsers({ sealer, issuer, basePath }: BrowsersOptions): Browsers {
  const secure = issuer.startsWith('https:');
  const name = cookieNameBelow(basePath, secure ? '__Host-portico_browser' : 'portico_browser');
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const seen = createNote<Browser>('browser');

  async function browserOf(request: Request): Promise<Browser> {
    const known = seen.of(request);
    if (known !== undefined) return known;
    const browser = (await sentBrowser(request)) ?? newBrowser(false);
    seen.set(request, browser);
    return browser;
  }

  async function sentBrowser(request: Request): Promise<Browser | null> {
    const values = sentCookies(request).flatMap(([each, value]) =>
      each === name && value.length <= LONGEST_VALUE ? [value] : [],
    );
    for (const sealed of values.slice(0, MOST_TRIED)) {
      const value = await sealer.open(name, sealed);
      if (value !== null) return { value, sealed, renewed: false };
    }
    return null;
  }

  return {
    async secret(request, { provider, id }) {
      const { value } = await browserOf(request);
      return keyedHash(value, 'browser', provider, id);
    },
    renew(request) {
      seen.set(request, newBrowser(true));
    },
    async setCookie(request) {
      const { value, sealed, renewed } = await browserOf(request);
      const keepsIt = sealed === null ? !isNavigation(request) : sealer.isCurrent(sealed);
      if (keepsIt && !renewed) return null;
      return `${name}=${await sealer.seal(name, value)}; ${attributes}`;
    },
  };
}

function newBrowser(renewed: boolean): Browser {
  return { value: randomToken(), sealed: null, renewed };
}

/**
 * A form that another site sends, and a page that it embeds, come without the cookie, though the browser has one: with another it
 * would lose the questions that are open.
 */
function isNavigation(request: Request): boolean {
  const destination = request.headers.get('sec-fetch-dest');
  return request.method === 'GET' && (destination === null || destination === 'document');
}
