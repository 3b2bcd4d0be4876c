import { equalInConstantTime, keyedHash, type Visitor } from 'portico/extension';

/** In milliseconds: long enough to reload the page, and to return to it once. */
const HOLDS = 600_000;
const PARAMETER = 'done';

/**
 * After a form, the browser is sent to a page that says what was done, from the parameter `done` of
 * its address. The parameter is signed, so that another person's link cannot make the page say
 * anything.
 */
export class Notices {
  readonly #clock: () => number;

  /** `clock`: milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * The path and query of an address of this page. Its `done`, if there is one, is signed for this
   * browser and person.
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
   * What was done, as the page named it. Empty unless it was signed for this browser, person and
   * page within the last minutes.
   */
  in(visitor: Visitor, page: string, address: URL): string {
    const [done = '', at = '', sent = ''] = address.searchParams.get(PARAMETER)?.split('.') ?? [];
    if (sent === '' || !equalInConstantTime(sent, signature(visitor, page, address, [done, at]))) return '';
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
