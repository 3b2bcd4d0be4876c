import { equalInConstantTime } from '../../http/constant-time.ts';
import type { Visitor } from '../accounts.ts';
import { keyedHash } from '../crypto.ts';

/**
 * What a form has done is said on the page to which the browser is sent then, by the parameter `done` of its address. It is signed, so that
 * nobody is told of an erasure by a link that somebody else made.
 */
export interface Notices {
  /** The path and query of an address of this page, with its `done`, if there is one, signed for this browser and person. */
  sign(visitor: Visitor, page: string, address: URL): string;
  /** What was done, as the page named it; empty unless it was signed for this browser, person and page, some minutes ago at most. */
  in(visitor: Visitor, page: string, address: URL): string;
}

/** In milliseconds: long enough to reload the page, and to come back to it once. */
const HOLDS = 600_000;
const PARAMETER = 'done';

/** `clock`: milliseconds since 1970. */
export function createNotices(clock: () => number): Notices {
  return {
    sign(visitor, page, address) {
      const done = address.searchParams.get(PARAMETER);
      if (done !== null) {
        const at = String(clock());
        address.searchParams.set(
          PARAMETER,
          [done, at, signature(visitor, page, address, [done, at])].join('.'),
        );
      }
      return `${address.pathname}${address.search}`;
    },
    in(visitor, page, address) {
      const [done = '', at = '', sent = ''] = address.searchParams.get(PARAMETER)?.split('.') ?? [];
      if (sent === '' || !equalInConstantTime(sent, signature(visitor, page, address, [done, at]))) return '';
      return Math.abs(clock() - Number(at)) < HOLDS ? done : '';
    },
  };
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
