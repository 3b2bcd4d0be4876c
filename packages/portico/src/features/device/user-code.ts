import { randomInt } from 'node:crypto';

/** Only consonants, so no code is a word (RFC 8628 section 6.1). O and I would look like digits. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
/** 8 random characters give 20^8 codes, about 2^34.6. */
const RANDOM_LENGTH = 8;
const GROUP = 3;
/** No weight shares a factor with 20, so a single wrong character always changes the result. */
const WEIGHTS = [1, 3, 7, 9, 11, 13, 17, 19];

/** The code has a check character and no separators. */
export function newUserCode(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () =>
    ALPHABET.charAt(randomInt(ALPHABET.length)),
  );
  return `${random.join('')}${checkCharacter(random)}`;
}

/** Returns the code as devices and pages show it, for example `BCD-FGH-JKL`. */
export function shownUserCode(code: string): string {
  return (code.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
}

/**
 * Returns the typed code without separators. Ignores case, spaces and punctuation. Returns null if
 * the text cannot be a code, for example if a character is wrong or missing.
 */
export function readUserCode(typed: string): string | null {
  if (typed.length > LONGEST_TYPED) return null;
  const characters = Array.from(typed.normalize('NFKC').toUpperCase()).filter(
    (each) => !SEPARATOR.test(each),
  );
  const isWhole =
    characters.length === RANDOM_LENGTH + 1 && characters.every((each) => ALPHABET.includes(each));
  if (!isWhole) return null;
  return checkCharacter(characters.slice(0, RANDOM_LENGTH)) === characters.at(-1)
    ? characters.join('')
    : null;
}

/**
 * In characters. Longer text cannot be a code and takes long to normalize. The page then shows only
 * its beginning again.
 */
export const LONGEST_TYPED = 40;
const SEPARATOR = /[\p{P}\p{Z}\s]/u;

function checkCharacter(characters: readonly string[]): string {
  const sum = characters.reduce(
    (total, each, index) => total + ALPHABET.indexOf(each) * (WEIGHTS[index] ?? 1),
    0,
  );
  return ALPHABET.charAt(sum % ALPHABET.length);
}
