import { ADA, PASSWORD, codeRequest } from '../portal.ts';
import { isRedirect, locationOf, type Visitor } from '../visitor.ts';
import type { Soaked } from './soak.ts';

/** What a path needs of the tested process besides its endpoints. */
export interface Steering {
  /**
   * Moves its clock, on which limits, windows and freshness depend. Returns by how many
   * milliseconds it is ahead now.
   */
  readonly advance: (seconds: number) => Promise<number>;
  /**
   * Collects its metrics, forgets its spans, and returns how many spans it has reported since its
   * start.
   */
  readonly collect: () => Promise<number>;
}

/** A path through the server, taken again and again. Rejects if any answer is wrong. */
export interface Path {
  /** Takes it this many times. */
  go(times: number): Promise<void>;
  close(): Promise<void>;
}

export type Door = (soaked: Soaked, steering: Steering) => Promise<Path>;

/** Simultaneous calls, if they do not wait for each other. */
export const BATCH = 20;

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** This many at once, one batch after the other. */
export function inBatches(
  size: number,
  once: (number: number) => Promise<void>,
  between: () => Promise<unknown> = async () => {},
): Path {
  let number = 0;
  return {
    async go(times) {
      for (let gone = 0; gone < times; gone += size) {
        await Promise.all(
          Array.from({ length: Math.min(size, times - gone) }, () => once(number++)),
        );
        await between();
      }
    },
    close: async () => {},
  };
}

export function requestOf(url: string, client: string, scope = 'orders:read'): string {
  const query = codeRequest(client, { scope, state: 'a state' });
  return `${url}/oauth/authorize?${query}`;
}

/** The page, or the one in its place, for a person who signs in if asked. */
export async function visitSignedIn(visitor: Visitor, url: string, email = ADA): Promise<Response> {
  const page = await visitor.visit(url);
  if (!(await page.clone().text()).includes('type="password"')) return page;
  const signedIn = await visitor.submit(page, { identifier: email, email, password: PASSWORD });
  return visitor.visit(locationOf(signedIn).href);
}

/** Signs in if asked. */
export async function consentOf(visitor: Visitor, url: string): Promise<Response> {
  const page = await visitSignedIn(visitor, url);
  if (page.status === 200 && !isRedirect(page)) return page;
  throw new Error(`Answered ${page.status}: ${await page.text()}`);
}

export async function expectStatus(status: number, asked: Promise<Response>): Promise<string> {
  const response = await asked;
  const body = await response.text();
  if (response.status === status) return body;
  throw new Error(`Answered ${response.status} in place of ${status}: ${body.slice(0, 300)}`);
}
