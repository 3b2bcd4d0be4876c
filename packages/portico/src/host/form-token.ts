import { equalInConstantTime } from '../http/constant-time.ts';
import type { Visitor } from './accounts.ts';
import { keyedHash } from '../crypto.ts';

/**
 * Returns a token that protects a form against forged requests (CSRF). It is keyed with the browser
 * secret, so other sites cannot compute it. `about` identifies the form, what it does, and for
 * whom.
 */
export function formToken({ browserSecret }: Visitor, ...about: readonly string[]): string {
  return keyedHash(browserSecret, ...about);
}

/** Returns true if the submitted form contains the correct token. */
export function isFormToken(
  sent: string | undefined,
  visitor: Visitor,
  ...about: readonly string[]
): boolean {
  return equalInConstantTime(sent ?? '', formToken(visitor, ...about));
}
