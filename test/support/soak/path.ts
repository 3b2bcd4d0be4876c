import { ADA, PASSWORD, codeRequest } from '../portal.ts';
import { isRedirect, locationOf, type Visitor } from '../visitor.ts';
import type { Soaked } from './soak.ts';

/** What a path needs from the tested process, in addition to its endpoints. */
export interface Steering {
  /**
   * Moves the clock of the process, which affects limits, windows and freshness. Returns how far
   * the clock is ahead now, in milliseconds.
   */
  readonly advance: (seconds: number) => Promise<number>;
  /**
   * Collects the metrics of the process, forgets its spans, and returns how many spans it has
   * reported since it started.
   */
  readonly collect: () => Promise<number>;
}

/** A path through the server that the test repeats. Rejects if a response is wrong. */
export interface Path {
  /** Uses the path this many times. */
  go(times: number): Promise<void>;
  close(): Promise<void>;
}

export type Door = (soaked: Soaked, steering: Steering) => Promise<Path>;

/** How many calls run at the same time if they are independent. */
export const BATCH = 20;

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Runs calls in batches, one batch after another. The calls of a batch run at the same time. */
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

/** Returns the page, or the page that replaces it. Signs the person in if asked. */
export async function visitSignedIn(visitor: Visitor, url: string, email = ADA): Promise<Response> {
  const page = await visitor.visit(url);
  if (!(await page.clone().text()).includes('type="password"')) return page;
  const signedIn = await visitor.submit(page, { identifier: email, email, password: PASSWORD });
  return visitor.visit(locationOf(signedIn).href);
}

/** Returns the consent screen. Signs the person in if asked. */
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
