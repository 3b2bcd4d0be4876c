/**
 * Whether a person can mistake one name for the other at a glance. A small part of what UTS 39
 * calls confusable: the letters that a stranger would use to imitate the name of this server.
 */

/**
 * Letters of other scripts, and digits, by the Latin letter that they look like. `i`, `l` and `1`
 * are one.
 */
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
 * The first letter of several blocks: letters in boxes and circles, and those of flags. No normal
 * form turns these into letters.
 */
const ENCLOSED = [0x1f150, 0x1f170, 0x1f1e6] as const;

const LATIN_FOR: ReadonlyMap<string, string> = new Map(
  [
    ...Array.from('abcdefghijklmnopqrstuvwxyz', (latin, index) => {
      const enclosed = ENCLOSED.map((first) => String.fromCodePoint(first + index)).join('');
      return [/[il]/.test(latin) ? 'l' : latin, enclosed] as const;
    }),
    ...Object.entries(LOOKS_LIKE),
  ].flatMap(([latin, others]) => Array.from(others.toLowerCase(), (other) => [other, latin] as const)),
);

/** Two letters that are read as one. */
const PAIRS: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
];

const NOT_SEEN = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const NEITHER = /[^\p{L}\p{N}]/gu;

/** Shorter ones are part of too many names. */
const SHORTEST_PART = 4;

/**
 * What a person sees of a name at a glance: one letter for all that look like it, without accents,
 * case and spaces.
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

/** A sign may stand for a letter, or only beside letters: "Port@l", "@Portal". */
function skeletons(name: string): readonly string[] {
  return [buildSkeleton(name), buildSkeleton(name.replaceAll(/[|@$×]/g, ''))];
}

/** Whether this is the name of the server, or looks like it. */
export function looksLike(name: string, serverName: string): boolean {
  const own = buildSkeleton(serverName);
  return own !== '' && skeletons(name).includes(own);
}

/** Whether this contains the name of the server, or a text that looks like it. */
export function containsLookalike(name: string, serverName: string): boolean {
  const own = buildSkeleton(serverName);
  if (own === '') return false;
  return own.length < SHORTEST_PART
    ? name.split(/\s+/).some((word) => looksLike(word, serverName))
    : skeletons(name).some((each) => each.includes(own));
}
