import { isLoopback } from '../http/loopback.ts';
import { ENGLISH_WORDS, type Words } from '../words/words.ts';
import type { RegisteredBy } from '../store/client.ts';
import { containsLookalike, looksLike } from './lookalikes.ts';

/**
 * Who asks, as people see it. A client that no operator registered can give itself any name. So
 * people first see what it cannot make up: the host that its document came from, or where the
 * answer goes (decision 40).
 */

/** What is known of a client that no operator registered. */
export interface Unverified {
  /**
   * Who it is: a host in ASCII, "a program on this computer" or "an application on this device".
   */
  readonly asks: string;
  /** Whether that is a host. */
  readonly isHost: boolean;
  /** What it calls itself, if that may be shown. Any client can use this name. */
  readonly calledName: string | null;
  /** Where the answer goes. */
  readonly answersTo: Destination;
}

/** Where an answer goes. */
export interface Destination {
  /**
   * A web site, a program that listens on this computer, or an application that has its own scheme.
   */
  readonly kind: 'site' | 'computer' | 'device';
  /**
   * As pages show it. A site is shown by its host in ASCII, so that letters of two scripts do not
   * look alike.
   */
  readonly text: string;
}

/** A client, as it calls itself, and who says so. */
export interface NamedClient {
  readonly id: string;
  readonly name: string;
  readonly registeredBy: RegisteredBy;
}

/** A client, and where its answers go. */
interface PlacedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly redirectUris: readonly string[];
}

/** Whether an operator registered the client. */
export function isVerified({ registeredBy }: { readonly registeredBy: RegisteredBy }): boolean {
  return registeredBy === 'operator';
}

/**
 * Null for a client that an operator registered. `serverName` is `oauth_server:name`; `words` are
 * those of the person who reads it.
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
 * Whether people could take the client for this server: it has the server's name, or one that looks
 * like it. For a name that no one has verified, it is enough that it contains such a name.
 */
export function namedLikeServer(client: NamedClient, serverName: string): boolean {
  return isVerified(client) ? looksLike(client.name, serverName) : bears(client.name, serverName);
}

function bears(name: string, serverName: string): boolean {
  const own = getLetters(serverName);
  return (own !== '' && getLetters(name).includes(own)) || containsLookalike(name, serverName);
}

/**
 * Where a client comes from that no operator registered, when it asks for nothing: one that
 * registered itself has many places.
 */
export function comesFrom(client: PlacedClient, words: Words = ENGLISH_WORDS): string {
  if (client.registeredBy === 'document') return getHost(client.id);
  // All of them: what was left out would be the one that counts.
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

/** Whether all answers to this client go to one site, to this computer, or to one scheme. */
export function hasOneDestination(redirectUris: readonly string[]): boolean {
  const places = redirectUris.map((uri) => {
    const { kind, text } = getDestination(uri);
    return kind === 'device' ? new URL(uri).protocol : text;
  });
  return new Set(places).size === 1;
}

/** As the URL standard writes it: in lower case and in ASCII (punycode). */
function getHost(url: string): string {
  return new URL(url).host;
}

/** In characters, as people count them. */
const LONGEST_NAME = 60;
const GRAPHEMES = new Intl.Segmenter('en');
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** A name is shown in quotes, so it must not contain the closing quote. */
const QUOTES = /["\u{ab}\u{bb}\u{201c}-\u{201f}\u{275d}\u{275e}\u{300c}-\u{300f}\u{301d}-\u{301f}]/gu;
/** More than two marks on one letter reach into the lines above and below. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;
const LATIN = /\p{Script=Latin}/u;
/**
 * Scripts that one word may mix with Latin letters, because none of their letters look Latin (UTS
 * 39 section 5.2, "highly restrictive").
 */
const NOT_BESIDE_LATIN =
  /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;

/**
 * What a client calls itself, if people may see it. Null for a name that must not be shown: it is
 * empty, contains the name of this server or one that looks like it, or mixes scripts whose letters
 * look the same, as an honest name does not.
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
 * In capitals, since these write one letter in one way: "ß" as "SS", and so "ẞ", which has to be
 * small first. Without marks before that: the capital of one (U+0345) is a letter.
 */
function getLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
    .toUpperCase();
}
