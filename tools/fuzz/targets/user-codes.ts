import {
  newUserCode,
  readUserCode,
  shownUserCode,
} from '../../../packages/portico/src/features/device/user-code.ts';
import { hold, type Target } from '../target.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** Returns the letters of a text. It reads the text differently from the sources. */
function lettersOf(text: string): string {
  return Array.from(text.normalize('NFKC').toUpperCase(), (each) =>
    each.replace(/[\p{P}\p{Z}\s]/u, ''),
  ).join('');
}

/** The input is a code as people type it. */
export const target: Target = {
  about: 'codes of devices, as people type them',
  seeds: [
    'BBB-BBB-BBB',
    'bbb bbb bbb',
    'BCD-FGH-JKL',
    'ＢＢＢ－ＢＢＢ－ＢＢＢ',
    shownUserCode('BBBBBBBBB'),
  ],
  dictionary: ['-', ' ', '–', '．', 'BBB', 'XZW', 'A', 'ﬀ'],
  start: () => (input) => {
    const typed = input.toString('utf8');
    const code = readUserCode(typed);
    if (code === null) return;
    hold(/^[BCDFGHJKLMNPQRSTVWXZ]{9}$/.test(code), 'a code has other characters');
    hold(code === lettersOf(typed), 'a code differs from what was typed');
    hold(readUserCode(shownUserCode(code)) === code, 'a shown code is read as something else');
    const at = input.length % code.length;
    const letter =
      LETTERS[(LETTERS.indexOf(code[at] ?? '') + 1 + (input[0] ?? 0)) % LETTERS.length] ?? '';
    const changed = `${code.slice(0, at)}${letter}${code.slice(at + 1)}`;
    hold(changed === code || readUserCode(changed) === null, 'a code with a wrong letter was read');
    hold(readUserCode(newUserCode()) !== null, 'a new code is not read');
  },
};
