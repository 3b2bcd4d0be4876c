// @engines sqlite: it only reads files
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { keysOf } from '../tools/scripts/configuration/keys.ts';
import { oauthServerConfiguration } from '../packages/portico/src/assembly/feature-configuration.ts';
import { ROOT } from './support/console.ts';

const PAGE = readFileSync(path.join(ROOT, 'docs', 'configuration.md'), 'utf8');

describe('docs/configuration.md', () => {
  const { keys, problems } = keysOf(ROOT);

  test('is generated from keys that all have a doc comment with the right default', () => {
    expect(problems).toEqual([]);
    expect(keys.length).toBeGreaterThan(60);
  });

  test('lists every key once', () => {
    const listed = [...PAGE.matchAll(/^\| <a id="[^"]+"><\/a>`([^`]+)`/gm)].map(([, key]) => key);
    expect(new Set(listed)).toEqual(new Set(keys.map(({ key }) => key)));
    expect(listed).toHaveLength(keys.length);
    for (const key of Object.keys(oauthServerConfiguration.shape))
      expect(listed).toContain(`oauth_server:${key}`);
  });
});
