import type { Client } from '../store/client.ts';
import type { Words } from '../pages/words.ts';

/** How long a client keeps its access if the user allows it now. */
export interface AccessLasts {
  /**
   * If true, the access continues until the user revokes it, or until the client has not used it
   * for `time`. If false, the access ends after `time`.
   */
  readonly renews: boolean;
  /** The length of time as text, for example "30 days". */
  readonly time: string;
}

/** In seconds. */
export interface TokenLifetimes {
  readonly access_token_ttl: number;
  readonly refresh_token_ttl: number;
}

/** Without refresh tokens, access lasts as long as one access token. */
export function accessLasts(
  { grants }: Client,
  lifetimes: TokenLifetimes,
  { locale }: Words,
): AccessLasts {
  const renews = grants.includes('refresh_token');
  const seconds = renews ? lifetimes.refresh_token_ttl : lifetimes.access_token_ttl;
  return { renews, time: durationText(seconds, locale) };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From largest to smallest. */
const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1],
] as const;

/** Formats seconds as text, for example "30 days", "1 hour" or "90 minutes". Rounds down. */
function durationText(seconds: number, locale: string): string {
  const whole = UNITS.find(([, length]) => seconds % length === 0) ?? UNITS[3];
  const rounded = UNITS.find(([, length]) => seconds >= 2 * length) ?? whole;
  // Choose the largest unit that divides the time exactly. But if an even larger unit fits at least
  // twice, use this larger unit and round down.
  const [unit, length] = whole[1] >= rounded[1] ? whole : rounded;
  const count = Math.floor(seconds / length);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
