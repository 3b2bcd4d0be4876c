import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newUserCode, readUserCode, shownUserCode } from './user-code.ts';

// @shows AS-48.3, RFC8628-6.1
test('a user code is nine consonants in three groups, and is accepted in any way of typing it', () => {
  const codes = Array.from({ length: 500 }, () => newUserCode());
  for (const code of codes) {
    const shown = shownUserCode(code);
    expect(shown).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{3}(?:-[BCDFGHJKLMNPQRSTVWXZ]{3}){2}$/);
    const typed = [
      shown,
      code,
      shown.toLowerCase(),
      ` ${shown.replaceAll('-', ' – ')}\t`,
      shown.replaceAll('-', '．'),
    ];
    expect(typed.map(readUserCode)).toEqual(typed.map(() => code));
  }
  expect(new Set(codes).size).toBe(500);
});

// @shows AS-48.3
test('a user code with a wrong, missing or additional letter is refused', () => {
  const code = newUserCode();
  const letters = 'BCDFGHJKLMNPQRSTVWXZ';
  for (let at = 0; at < code.length; at += 1) {
    for (const letter of letters) {
      const changed = `${code.slice(0, at)}${letter}${code.slice(at + 1)}`;
      expect(readUserCode(changed)).toBe(letter === code[at] ? code : null);
    }
    expect(readUserCode(code.slice(0, at) + code.slice(at + 1))).toBeNull();
    expect(readUserCode(`${code.slice(0, at)}A${code.slice(at)}`)).toBeNull();
  }
});

// @shows AS-48.3
test('a user code with a character other than the twenty consonants is refused', () => {
  // "A" is not in the alphabet. Its index there, -1, must not count as that of the last letter.
  const code = Array.from({ length: 1000 }, newUserCode).find((each) => each.startsWith('Z')) ?? '';
  expect(readUserCode(code)).toBe(code);
  expect(readUserCode(`A${code.slice(1)}`)).toBeNull();
});

// @shows AS-48.3
test('a user code may have spaces around it, up to 40 characters', () => {
  const code = newUserCode();
  expect(readUserCode(code.padStart(40))).toBe(code);
  expect(readUserCode(code.padStart(41))).toBeNull();
});

test('any typed text is either read as a user code or refused without an error', () => {
  const isStable = fc.property(fc.string(), (typed) => {
    const code = readUserCode(typed);
    return code === null || readUserCode(shownUserCode(code)) === code;
  });
  expect(fc.check(isStable).failed).toBe(false);
});
