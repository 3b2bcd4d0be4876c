import type { REFRESH_FAULTS } from './grants.ts';

/** Values that wrong refresh tokens are made from. */

interface Beside {
  /** A refresh token of another authorization. */
  readonly other: string;
  readonly code: string;
  readonly accessToken: string;
}

type Way = (token: string, beside: Beside) => string;

/**
 * Changes the second to last letter of the text. Some bits of the last letter have no meaning, so
 * changing it could have no effect.
 */
export const altered = (part: string) =>
  `${part.slice(0, -2)}${part.at(-2) === 'x' ? 'y' : 'x'}${part.slice(-1)}`;

function withPart(token: string, at: number, change: (part: string) => string): string {
  const parts = token.split('.');
  return parts.with(at, change(parts.at(at) ?? '')).join('.');
}

/**
 * Ways to create a token that names no authorization. Tokens are opaque, so they only move or
 * change the parts between dots.
 */
const UNKNOWN: readonly Way[] = [
  (token) => withPart(token, 1, altered),
  (token) => withPart(token, 0, altered),
  (token) => withPart(token, 0, (family) => family.toUpperCase()),
  (token) => withPart(token, 0, (family) => `${family} `),
  (token, { other }) => withPart(token, 0, () => other.split('.')[0] ?? ''),
  (token, { other }) => withPart(token, 1, () => other.split('.')[1] ?? ''),
  (token) => token.split('.').slice(0, 2).join('.'),
  (token) => token.slice(0, Math.floor((token.split('.')[0]?.length ?? 0) + 20)),
  (token) => token.split('.').toReversed().join('.'),
  (_, { code }) => code,
];
/**
 * The refresh grant does not accept an access token. The revocation endpoint recognizes an access
 * token and revokes it.
 */
const UNKNOWN_TO_REFRESH: readonly Way[] = [...UNKNOWN, (_, { accessToken }) => accessToken];
/** Ways to create a token that names this authorization but is not its current token. */
const USED: readonly Way[] = [
  (token) => withPart(token, -1, altered),
  (token) => withPart(token, -1, () => ''),
  (token) => withPart(token, -1, (own) => own.slice(1)),
  (token) => token.slice(0, -1),
  (token, { other }) => withPart(token, -1, () => altered(other.split('.').at(-1) ?? '')),
];

/** Returns the text to send instead of the refresh token. */
export function offered(
  token: string,
  wrong: (typeof REFRESH_FAULTS)[number],
  variant: number,
  beside: Beside,
  at: 'the token endpoint' | 'the revocation endpoint',
): string {
  if (wrong === 'none') return token;
  const unknown = at === 'the token endpoint' ? UNKNOWN_TO_REFRESH : UNKNOWN;
  const ways = wrong === 'unknown' ? unknown : USED;
  return ways[variant % ways.length]?.(token, beside) ?? '';
}
