import { timingSafeEqual } from 'node:crypto';

/** Compares in a time that depends on the lengths only. */
export function equalInConstantTime(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
