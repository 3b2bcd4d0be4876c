import path from 'node:path';
import { ConfigurationError } from '@portico/sql';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { mergeConfig, readConfiguration, validateConfig } from './configuration.ts';
import type { KitConfig } from './keys.ts';
import type { KitConfigInput } from './typed-configuration.ts';

describe('merging configuration', () => {
  // @shows HOST-1.1
  test('merges maps by key, at every depth', () => {
    const merged = mergeConfig({ a: { x: 1, y: { p: 1 } }, b: 1 }, { a: { y: { q: 2 } }, c: 3 });
    expect(merged).toEqual({ a: { x: 1, y: { p: 1, q: 2 } }, b: 1, c: 3 });
  });

  // @shows HOST-1.1
  test('merges arrays by position, and keeps items beyond the end of the later array', () => {
    expect(mergeConfig({ list: ['mcp:tools'] }, { list: ['a', 'b'] })).toEqual({
      list: ['a', 'b'],
    });
    expect(mergeConfig({ list: ['a', 'b', 'c'] }, { list: ['x'] })).toEqual({
      list: ['x', 'b', 'c'],
    });
    expect(mergeConfig({ list: [{ a: 1, b: 1 }] }, { list: [{ b: 2 }] })).toEqual({
      list: [{ a: 1, b: 2 }],
    });
  });

  // @shows HOST-1.1
  test('replaces any other value, and ignores undefined', () => {
    const claims = () => ({});
    expect(
      mergeConfig({ a: 1, b: [1], c: { d: 1 } }, { a: undefined, b: 'text', c: claims }),
    ).toEqual({
      a: 1,
      b: 'text',
      c: claims,
    });
  });

  test('merges maps without a prototype, too', () => {
    const bare = Object.assign(Object.create(null), { y: 2 }) as object;
    expect(mergeConfig({ a: { x: 1 } }, { a: bare })).toEqual({ a: { x: 1, y: 2 } });
  });

  // @shows AS-2.9
  test('lets several plugins add to one map, and the application disable an entry', () => {
    const merged = mergeConfig(
      { csrf_exempt_routes: { one: true } },
      { csrf_exempt_routes: { two: true } },
      { csrf_exempt_routes: { one: false } },
    );
    expect(merged).toEqual({ csrf_exempt_routes: { one: false, two: true } });
  });

  test('treats a key named __proto__ as an ordinary key', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}}',
    ) as object;
    mergeConfig({ a: {} }, hostile as never);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  const tree = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 4,
    noNullPrototype: true,
  });

  test('changes nothing if nothing is merged, or a map is merged with itself', () => {
    fc.assert(
      fc.property(tree, (map) => {
        expect(mergeConfig(map)).toEqual(map);
        expect(mergeConfig({}, map)).toEqual(map);
        expect(mergeConfig(map, map)).toEqual(map);
      }),
    );
  });

  test('gives the later map precedence for each key that it has', () => {
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const merged = mergeConfig(one, other);
        expect(new Set(Object.keys(merged))).toEqual(
          new Set([...Object.keys(one), ...Object.keys(other)]),
        );
        expect(mergeConfig(merged, other)).toEqual(merged);
      }),
    );
  });
});

describe('validating configuration', () => {
  const schemas = {
    one: z.strictObject({
      name: z.string({ error: 'is missing' }),
      ttl: z.int({ error: 'must be a number' }).default(5),
    }),
    two: z.record(
      z.string().refine((key) => key !== 'bad', 'is a bad key'),
      z.string({ error: 'must be text' }),
    ),
  };

  test('fills in defaults and keeps the keys of the application', () => {
    const config = validateConfig({ one: { name: 'x' }, two: {}, own: [1] }, schemas);
    expect(config).toEqual({ one: { name: 'x', ttl: 5 }, two: {}, own: [1] });
  });

  // @shows AS-2.16
  test('reports all problems at once, each with its key in colon form', () => {
    const attempt = () =>
      validateConfig({ one: { ttl: 'x', nmae: 1 }, two: { bad: 'x', good: 1 } }, schemas);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(
      [
        'one:name: is missing',
        'one:ttl: must be a number',
        'one:nmae: is not a known key; remove it',
        'two:bad: is a bad key',
        'two:good: must be text',
      ].join('\n'),
    );
  });

  test('names the package of a key whose feature is not listed', () => {
    const section = { oauth_server: { imported_pbkdf2_iterations: 5 } };
    expect(() => validateConfig(section, { oauth_server: z.strictObject({}) })).toThrow(
      'oauth_server:imported_pbkdf2_iterations: needs the package @portico/import; install ' +
        'it and pass features: [importing] to oauthServer()',
    );
  });
});

describe('the configuration of an application', () => {
  test('accepts only the declared keys of the kit', () => {
    expectTypeOf<Exclude<keyof KitConfigInput, 'name' | 'branding'>>().toEqualTypeOf<
      keyof KitConfig
    >();
    expectTypeOf<KitConfig>().toExtend<KitConfigInput>();
  });

  test('has its own keys validated with the schemas of the application', () => {
    const definition = (city: unknown) => ({
      config: { public_url: 'https://app.example', imprint: { city } },
      configuration: { imprint: z.strictObject({ city: z.string({ error: 'must be a city' }) }) },
    });
    expect(readConfiguration(definition('Turin'), {}).config['imprint']).toEqual({ city: 'Turin' });
    expect(() => readConfiguration(definition(5), {})).toThrow('imprint:city: must be a city');
  });

  test('reports where APP_ENV=dev was looked for, if an http URL needs it', () => {
    const read = (env: Record<string, string>) => () =>
      readConfiguration(
        { config: { public_url: 'http://localhost:3000' }, directory: '/srv/app/src' },
        env,
      );
    expect(read({})).toThrow(
      'APP_ENV: is not set in the environment or in the .env file of /srv/app/src',
    );
    const config = { public_url: 'http://localhost:3000', body_limit: 'x' };
    expect(() => readConfiguration({ config, directory: '/srv/app/src' }, {})).toThrow(
      'APP_ENV: is not set',
    );
    expect(read({ APP_ENV: 'dev' })).not.toThrow();
    expect(read({ APP_ENV: 'prod' })).not.toThrow('APP_ENV: is not');
  });

  test('uses the current folder by default', () => {
    const config = { public_url: 'https://app.example' };
    const storage = (directory?: string) =>
      readConfiguration({ config, directory }, {}).storageDirectory;
    expect(storage()).toBe(path.resolve('storage'));
    expect(storage('/srv/app')).toBe('/srv/app/storage');
  });
});
