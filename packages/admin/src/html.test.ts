import { expect, test } from 'vitest';
import { markup } from './html.ts';

// @shows AS-33.6
test('markup escapes every inserted value except other markup, and omits null, undefined and false', () => {
  const bold = markup`<b title="${'"><script>'}">${'<i>'}</b>`;
  expect(markup`a${null}b${undefined}c${false}d${0}${['&', [bold, 'e']]}`.html).toBe(
    'abcd0&amp;<b title="&quot;&gt;&lt;script&gt;">&lt;i&gt;</b>e',
  );
});
