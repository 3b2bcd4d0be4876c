/**
 * Finds names that users could confuse at a glance. The tables contain only letters that attackers
 * are likely to use, a small part of UTS 39.
 */

/** The characters that look like each Latin letter. `i`, `l` and `1` count as one letter. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  l: 'i1|ıɩӏіιǀɪʟꓲꓡᏞłɨƚ',
  o: '0оοօѳ〇ᴏꓳøꝋ',
  a: 'аαɑ@4ᴀꓮᎪ',
  b: 'ьвβ6ʙꓐᏴƀ',
  c: 'сϲᴄꓚᏟ',
  d: 'ԁժᴅꓓᎠđ',
  e: 'еєҽεё3ᴇꓰᎬɇ',
  f: 'ꜰꓝ',
  g: 'ɡց9ɢꓖᏀ',
  h: 'һհнʜꓧᎻħ',
  j: 'јϳᴊꓙᎫɉ',
  k: 'кκқᴋꓗᏦ',
  m: 'мϻᴍꓟᎷ',
  n: 'ոռпηɴꓠ',
  p: 'рρᴘꓑᏢ',
  q: 'ԛգ',
  r: 'гᴦʀꓣᎡᏒɍ',
  s: 'ѕꜱ5$ꓢᏚ',
  t: 'тτ7ᴛꓔᎢŧ',
  u: 'υսʋцμᴜꓴʉ',
  v: 'νѵᴠꓦᏙ',
  w: 'ԝѡшωᴡꓪᎳ',
  x: 'хχ×ꓫ',
  y: 'уүγʏꓬɏ',
  z: 'ᴢ2ꓜᏃƶ',
};

/**
 * The letter A in circles, in boxes, and in flags. Unicode normalization leaves these alphabets as
 * they are.
 */
const ENCLOSED = [0x1f150, 0x1f170, 0x1f1e6] as const;

const LATIN_FOR: ReadonlyMap<string, string> = new Map(
  [
    ...Array.from('abcdefghijklmnopqrstuvwxyz', (latin, index) => {
      const enclosed = ENCLOSED.map((first) => String.fromCodePoint(first + index)).join('');
      return [/[il]/.test(latin) ? 'l' : latin, enclosed] as const;
    }),
    ...Object.entries(LOOKS_LIKE),
  ].flatMap(([latin, others]) =>
    Array.from(others.toLowerCase(), (other) => [other, latin] as const),
  ),
);

const PAIRS: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
];

const NOT_SEEN = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const NEITHER = /[^\p{L}\p{N}]/gu;

/**
 * The minimum length of a server name to look for inside other names. Shorter names appear in too
 * many ordinary words and are compared only with whole words.
 */
const SHORTEST_PART = 4;

/**
 * Returns a skeleton: how the name looks at a glance. Letters that look alike become the same
 * letter. Accents, case, spaces and punctuation are removed.
 */
function buildSkeleton(name: string): string {
  const letters = Array.from(getLetters(name), (letter) => LATIN_FOR.get(letter) ?? letter);
  const plain = getLetters(letters.join('')).replaceAll(NEITHER, '');
  return PAIRS.reduce((text, [pair, one]) => text.replaceAll(pair, one), plain);
}

function getLetters(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll('ß', 'ss')
    .replaceAll(NOT_SEEN, '');
}

/**
 * Returns one skeleton that reads symbols as letters ("Port@l"), and one without symbols
 * ("@Portal").
 */
function skeletons(name: string): readonly string[] {
  return [buildSkeleton(name), buildSkeleton(name.replaceAll(/[|@$×]/g, ''))];
}

/** Returns true if this name is or looks like the server's name. */
export function looksLike(name: string, serverName: string): boolean {
  const own = buildSkeleton(serverName);
  return own !== '' && skeletons(name).includes(own);
}

export function containsLookalike(name: string, serverName: string): boolean {
  const own = buildSkeleton(serverName);
  return own.length < SHORTEST_PART
    ? name.split(/\s+/).some((word) => looksLike(word, serverName))
    : skeletons(name).some((each) => each.includes(own));
}
