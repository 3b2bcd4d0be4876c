// @engines sqlite: pages are the same on every engine
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { messagesPage } from '../tools/scripts/messages.ts';
import { ENGLISH } from '../packages/portico/src/pages/english.ts';
import { LANGUAGES } from '../packages/portico/src/features/languages/catalogs.ts';
import { catalogProblems } from '../packages/portico/src/pages/own-messages.ts';

const root = path.join(import.meta.dirname, '..');

describe('the messages of the web pages', () => {
  const files = globSync('packages/*/src/**/*.{ts,eta}', { cwd: root }).filter(
    (file) =>
      !file.startsWith(path.join('packages', 'portico', 'src', 'words')) &&
      !file.endsWith('.test.ts'),
  );
  const sources = files.map((file) => readFileSync(path.join(root, file), 'utf8'));
  const keys = Object.keys(ENGLISH);

  test('are on the page of messages with their keys, as `npm run messages` writes it', () => {
    const page = messagesPage();
    expect(keys.filter((key) => !page.includes(`| \`${key}\` `))).toEqual([]);
  });

  test('include every message that a view uses', () => {
    const asked = sources.flatMap((source) =>
      [...source.matchAll(/\b(?:t|markup)\('([a-z_.]+)'/g)].map(([, key = '']) => key),
    );
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((key) => !keys.includes(key))).toEqual([]);
  });

  test('are all used by a view or by the code', () => {
    const quoted = new Set(
      sources.flatMap((source) =>
        [...source.matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'/g)].map(([, key = '']) => key),
      ),
    );
    const isUsed = (key: string) =>
      quoted.has(key) || quoted.has(key.replace(/\.(?:title|message)$/, ''));
    expect(keys.filter((key) => !isUsed(key))).toEqual([]);
  });

  test.each(Object.keys(LANGUAGES))(
    'are complete in %s, with the same placeholders as in English',
    async (tag) => {
      const messages = (await LANGUAGES[tag]?.()) ?? {};
      expect(Object.keys(messages).toSorted()).toEqual(keys.toSorted());
      expect(catalogProblems(messages, ENGLISH)).toEqual([]);
      const copied = Object.entries(messages).filter(
        ([key, text]) => text === ENGLISH[key as keyof typeof ENGLISH],
      );
      expect(copied.map(([key]) => key)).toEqual([]);
    },
  );
});
