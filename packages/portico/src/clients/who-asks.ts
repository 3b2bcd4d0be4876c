import { isLoopback } from '../http/loopback.ts';
import { ENGLISH_WORDS, type Words } from '../pages/words.ts';
import type { RegisteredBy } from '../store/client.ts';
import { containsLookalike, looksLike } from './lookalikes.ts';

/**
 * Describes clients to users. An unverified client can give itself any name. Pages first show
 * something that it cannot choose: the host of its document, or where the response goes (decision
 * 40).
 */

/** What pages show about a client that no operator registered. */
export interface Unverified {
  /**
   * What pages call the client: a host in ASCII, "a program on this computer" or "an application on
   * this device".
   */
  readonly asks: string;
  /** True if `asks` is a host. */
  readonly isHost: boolean;
  /**
   * The name that the client gave itself. Other clients can use the same name. Null if pages must
   * not show it.
   */
  readonly calledName: string | null;
  /** Where the authorization response goes. */
  readonly answersTo: Destination;
}

/** Where an authorization response goes. */
export interface Destination {
  /**
   * `site` is a website, `computer` is a program that listens on this computer, and `device` is an
   * application with a private-use scheme.
   */
  readonly kind: 'site' | 'computer' | 'device';
  /**
   * The text that pages show for the destination. For a site, this is the host in ASCII (punycode),
   * so that users notice letters of other scripts that look like Latin letters.
   */
  readonly text: string;
}

export interface NamedClient {
  readonly id: string;
  readonly name: string;
  readonly registeredBy: RegisteredBy;
}

interface PlacedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly redirectUris: readonly string[];
}

/** Returns true if an operator registered the client. */
export function isVerified({ registeredBy }: { readonly registeredBy: RegisteredBy }): boolean {
  return registeredBy === 'operator';
}

/**
 * Returns what pages show about an unverified client, or null for a verified client. `words`
 * contains the texts in the reader's language.
 */
export function unverified(
  client: NamedClient,
  redirectUri: string,
  serverName: string,
  words: Words,
): Unverified | null {
  if (isVerified(client)) return null;
  const answersTo = getDestination(redirectUri, words);
  const isDocument = client.registeredBy === 'document';
  return {
    asks: isDocument ? getHost(client.id) : answersTo.text,
    isHost: isDocument || answersTo.kind === 'site',
    calledName: calledName(client.name, serverName),
    answersTo,
  };
}

/**
 * Returns true if the client's name is or looks like the server's name. For an unverified client,
 * part of its name is enough.
 */
export function namedLikeServer(client: NamedClient, serverName: string): boolean {
  return isVerified(client) ? looksLike(client.name, serverName) : bears(client.name, serverName);
}

function bears(name: string, serverName: string): boolean {
  const own = getLetters(serverName);
  return (own !== '' && getLetters(name).includes(own)) || containsLookalike(name, serverName);
}

/**
 * Describes an unverified client on pages without an authorization request. Returns the host of a
 * document client. For a client that registered itself, returns all of its destinations.
 */
export function comesFrom(client: PlacedClient, words: Words = ENGLISH_WORDS): string {
  if (client.registeredBy === 'document') return getHost(client.id);
  // The client can receive responses at every destination.
  return [...new Set(client.redirectUris.map((uri) => getDestination(uri, words).text))].join(', ');
}

export function getDestination(redirectUri: string, { t }: Words = ENGLISH_WORDS): Destination {
  const url = new URL(redirectUri);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { kind: 'device', text: t('client.on_this_device') };
  }
  if (isLoopback(url)) return { kind: 'computer', text: t('client.on_this_computer') };
  return { kind: 'site', text: url.host };
}

/** Returns true if all responses go to one site, to programs on this computer, or to one scheme. */
export function hasOneDestination(redirectUris: readonly string[]): boolean {
  const places = redirectUris.map((uri) => {
    const { kind, text } = getDestination(uri);
    return kind === 'device' ? new URL(uri).protocol : text;
  });
  return new Set(places).size === 1;
}

/** In lower case and in ASCII (punycode). */
function getHost(url: string): string {
  return new URL(url).host;
}

/** In graphemes, which are characters as users count them. */
const LONGEST_NAME = 60;
const GRAPHEMES = new Intl.Segmenter('en');
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Matches double quotes of all languages. Pages show names in quotes. */
const QUOTES =
  /["\u{ab}\u{bb}\u{201c}-\u{201f}\u{275d}\u{275e}\u{300c}-\u{300f}\u{301d}-\u{301f}]/gu;
/** Matches three or more combining marks in a row. More than two would cover other lines. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;
const LATIN = /\p{Script=Latin}/u;
/**
 * Matches letters that must not share a word with Latin letters. Letters of the excluded scripts
 * never look like Latin letters (UTS 39 section 5.2, "highly restrictive").
 */
const NOT_BESIDE_LATIN =
  /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;

/**
 * Returns the name that the client gave itself, cleaned for display. Returns null in these cases:
 *
 * - The name is empty.
 * - The name contains the server's name or a lookalike.
 * - A word mixes Latin letters with letters that may not be next to them. An honest name does not.
 */
export function calledName(name: string, serverName: string): string | null {
  const plain = name
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(QUOTES, '')
    .replaceAll(PILED_MARKS, '$1');
  const words = plain.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0 || words.some(isMixed) || bears(plain, serverName)) return null;
  const characters = Array.from(GRAPHEMES.segment(words.join(' ')), ({ segment }) => segment);
  return characters.length > LONGEST_NAME
    ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…`
    : characters.join('');
}

function isMixed(word: string): boolean {
  return LATIN.test(word) && NOT_BESIDE_LATIN.test(word);
}

/**
 * Returns the letters and digits of a name in one case, for comparisons. The order matters. Upper
 * case turns one mark (U+0345) into a letter, so marks go first. Lower case comes next, for "ẞ".
 * Upper case then turns "ß" into "SS".
 */
function getLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
    .toUpperCase();
}
