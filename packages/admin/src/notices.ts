import { equalInConstantTime, keyedHash, type Visitor } from 'portico/extension';

/**
 * How long a notice can be shown after its action, in milliseconds. Reloading the page within this
 * time shows the notice again.
 */
const HOLDS = 600_000;
const PARAMETER = 'done';

/**
 * Notices about completed actions. After an action, the server redirects the browser to a page with
 * the parameter `done`, which names the action. The server signs this parameter, so that a link
 * from an attacker cannot show a false notice.
 */
export class Notices {
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Returns the path and the query of `address`. If the parameter `done` is present, signs it for
   * this browser, user and page.
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
   * Returns the action's name from the parameter `done`. Returns an empty string unless the server
   * signed the parameter for this browser, user and page within the last ten minutes.
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
