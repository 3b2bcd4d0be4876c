import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasHalves, jsonText, wellFormedJson } from './json.ts';

/**
 * Returns the value, with JavaScript's own function applied to each string to make it well-formed.
 */
function made(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(made);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.toWellFormed(), made(each)]),
  );
}

const TEXT = fc.string({
  unit: fc.constantFrom('\ud83d', '\ude00', '\\', 'u', 'd83d', '"', '\n', 'a', '😀'),
});

/**
 * Keys that `JSON.parse` reads correctly. In Node 24 (V8 13.6), `JSON.parse` confuses some keys
 * that contain escapes after it has read a key with a backslash.
 */
const READABLE = TEXT.filter((key) => !key.includes('\\'));

test('ill-formed Unicode in the values of JSON is replaced, at every depth', () => {
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof(
      TEXT,
      fc.integer(),
      fc.array(tie('value')),
      fc.dictionary(READABLE, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(values, (value) => {
      const text = jsonText(value);
      expect(JSON.parse(text)).toEqual(made(value));
      expect(hasHalves(JSON.parse(text))).toBe(false);
      expect(wellFormedJson(value)).toEqual(made(value));
      expect(hasHalves(value)).toBe(text !== JSON.stringify(value));
    }),
  );
});

test('ill-formed Unicode in the keys of JSON is replaced', () => {
  fc.assert(
    fc.property(TEXT, (key) => {
      expect(jsonText({ [key]: 1 })).toBe(JSON.stringify({ [key.toWellFormed()]: 1 }));
    }),
  );
});

test('well-formed values are written to JSON unchanged', () => {
  const value = { '😀': ['\\ud83d', 'ü'] };
  expect(wellFormedJson(value)).toBe(value);
  expect(jsonText(value)).toBe(JSON.stringify(value));
  expect(jsonText(undefined)).toBe(undefined);
  expect(jsonText({ a: 1 }, undefined, 2)).toBe('{\n  "a": 1\n}');
});
