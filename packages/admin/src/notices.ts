import { equalInConstantTime, keyedHash, type Visitor } from 'portico/extension';

/**
 * How long a notice is shown, in milliseconds. The time is enough to reload the page and to return
 * to it once.
 */
const HOLDS = 600_000;
const PARAMETER = 'done';

/**
 * Notices about what a form has done. After a form, the browser is redirected to a page with the
 * parameter `done`. The page reads the notice from this parameter. The parameter is signed, so that
 * a link from another person cannot show a false notice.
 */
export class Notices {
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Returns the path and query of the address. If it has the parameter `done`, signs the parameter
   * for this browser and person.
   */
  sign(visitor: Visitor, page: string, address: URL): string {
    const done = address.searchParams.get(PARAMETER);
    if (done !== null) {
      const at = String(this.#clock());
      const signed = signature(visitor, page, address, [done, at]);
      address.searchParams.set(PARAMETER, [done, at, signed].join('.'));
    }
    return `${address.pathname}${address.search}`;
  }

  /**
   * Returns the name of what was done. It must have been signed for this browser, person and page
   * in the last ten minutes. Otherwise returns an empty text.
   */
  in(visitor: Visitor, page: string, address: URL): string {
    const [done = '', at = '', sent = ''] = address.searchParams.get(PARAMETER)?.split('.') ?? [];
    if (sent === '' || !equalInConstantTime(sent, signature(visitor, page, address, [done, at])))
      return '';
    return Math.abs(this.#clock() - Number(at)) < HOLDS ? done : '';
  }
}

function signature(
  { user, browserSecret }: Visitor,
  page: string,
  { searchParams }: URL,
  about: readonly string[],
): string {
  const { provider, id } = user.reference;
  const others = [...searchParams].filter(([name]) => name !== PARAMETER).flat();
  return keyedHash(browserSecret, 'oauth/admin notice', provider, id, page, ...others, ...about);
}
