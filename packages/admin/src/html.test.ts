import { expect, test } from 'vitest';
import { markup } from './html.ts';

// @shows AS-33.6
test('a page contains every value as text, except markup; no value adds nothing', () => {
  const bold = markup`<b title="${'"><script>'}">${'<i>'}</b>`;
  expect(markup`a${null}b${undefined}c${false}d${0}${['&', [bold, 'e']]}`.html).toBe(
    'abcd0&amp;<b title="&quot;&gt;&lt;script&gt;">&lt;i&gt;</b>e',
  );
});
