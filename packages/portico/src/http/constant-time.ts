import { timingSafeEqual } from 'node:crypto';

/**
 * Compares two strings. Strings of the same length always take the same time, so an attacker cannot
 * measure how many characters are correct.
 */
export function equalInConstantTime(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
