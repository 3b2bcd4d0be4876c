import type { Parameters } from '../parameters.ts';
import type { Server } from '../server.ts';

/**
 * Reads hints for the sign-in page and for the language of pages (OpenID Connect Core section
 * 3.1.2.1). Portico ignores invalid hints.
 */

/** In characters. An email address cannot be longer (RFC 3696, erratum 1690). */
const LONGEST_HINT = 254;
const LONGEST_LOCALES = 200;
/** Matches invisible characters and characters that change the text direction. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const LOCALES = /^[A-Za-z0-9]+(?:[- ][A-Za-z0-9]+)*$/;

export type Hint = 'login_hint' | 'ui_locales';

const HINTS: Readonly<Record<Hint, (value: string) => boolean>> = {
  login_hint: (value) => value.length <= LONGEST_HINT && !UNSEEN.test(value) && value.trim() !== '',
  ui_locales: (value) => value.length <= LONGEST_LOCALES && LOCALES.test(value),
};

/**
 * Returns the hints that this server's pages read. Portico drops the others: the space for a
 * waiting request is limited.
 */
export function hintsRead({ host, speaking }: Server): readonly Hint[] {
  const all: readonly Hint[] = ['login_hint', 'ui_locales'];
  if (host.tellsWhoWaits) return all;
  return speaking.locales === null ? [] : ['ui_locales'];
}

/** Returns the hint, or undefined if it is missing or invalid. */
export function readHint(parameters: Parameters, hint: Hint): string | undefined {
  return sentHints(parameters, [hint])[0]?.[1];
}

/** Returns the hints with their names. Leaves out repeated and invalid ones. */
export function sentHints(
  parameters: Parameters,
  names: readonly Hint[],
): readonly (readonly [name: string, value: string])[] {
  return names.flatMap((name) => {
    const [value, ...more] = parameters.all(name);
    return value !== undefined && more.length === 0 && HINTS[name](value)
      ? [[name, value] as const]
      : [];
  });
}
