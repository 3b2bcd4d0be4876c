import { timingSafeEqual } from 'node:crypto';

/**
 * Whether two strings are equal. The comparison takes equally long for all strings of the same
 * lengths, so an attacker cannot measure how many characters are correct.
 */
export function equalInConstantTime(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
