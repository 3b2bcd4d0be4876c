import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from './configuration.ts';

const problemsOf = (section: unknown) =>
  (mcpConfiguration.safeParse(section).error?.issues ?? []).map(({ path, message }) =>
    [...path, message].join(': '),
  );

describe('the section mcp', () => {
  test('has defaults', () => {
    expect(mcpConfiguration.parse({})).toEqual({
      version: '1.0.0',
      protocol_versions: ['2025-11-25', '2025-03-26'],
      transport: { streaming: false },
      tool_timeout: 120,
      audit: false,
      oauth: { scopes_supported: ['mcp:tools'], challenge: false, narrow_service_scope: false },
      allowed_origins: [],
      security_schemes: false,
    });
  });

  test('accepts every setting', () => {
    const section = {
      name: 'Shop',
      version: '2',
      instructions: '',
      resource: 'https://shop.example/mcp',
      protocol_versions: ['2026-07-28'],
      transport: { streaming: true },
      tool_timeout: 86_400,
      audit: true,
      calls_per_minute: 1_000_000,
      oauth: { scopes_supported: ['a'], challenge: true, narrow_service_scope: true },
      allowed_origins: ['https://app.example', 'http://localhost:3000'],
      security_schemes: true,
      endpoints: {
        '/a/b-c_d.e/1': { name: 'A', instructions: '', scopes_supported: ['a'] },
        '/mcp2': {},
      },
    };
    expect(mcpConfiguration.parse(section)).toEqual(section);
    expect(problemsOf({ tool_timeout: 1, calls_per_minute: 1 })).toEqual([]);
  });

  test.each([
    [{ name: '' }, 'name: is empty'],
    [{ name: 1 }, 'name: must be a string with the server name that clients show'],
    [{ version: '' }, 'version: is empty'],
    [{ version: 1 }, 'version: must be a string with the version of your tools'],
    [{ instructions: 1 }, 'instructions: must be a string with instructions for the model'],
    [{ resource: 1 }, 'resource: must be public_url plus /mcp'],
    [{ protocol_versions: [] }, 'protocol_versions: must contain at least one version'],
    [{ protocol_versions: 1 }, 'protocol_versions: must be a list of protocol versions'],
    [{ protocol_versions: ['1'] }, 'protocol_versions: 0: must be one of 2026-07-28, 2025-11-25'],
    [{ transport: { streaming: 1 } }, 'transport: streaming: must be true or false'],
    [{ tool_timeout: 0 }, 'tool_timeout: must be at least 1 second'],
    [{ tool_timeout: 86_401 }, 'tool_timeout: must be at most 86400 seconds'],
    [{ tool_timeout: 1.5 }, 'tool_timeout: must be a whole number of seconds'],
    [{ audit: 1 }, 'audit: must be true or false'],
    [{ calls_per_minute: 0 }, 'calls_per_minute: must be at least 1 message'],
    [{ calls_per_minute: 1_000_001 }, 'calls_per_minute: must be at most 1000000 messages'],
    [{ calls_per_minute: '1' }, 'calls_per_minute: must be a whole number of messages'],
    [{ oauth: { scopes_supported: [] } }, 'scopes_supported: must contain at least one scope'],
    [{ oauth: { scopes_supported: 'a' } }, 'scopes_supported: must be a list of scope names'],
    [{ oauth: { scopes_supported: [1] } }, 'oauth: scopes_supported: 0: must be a scope name'],
    [{ oauth: { challenge: 1 } }, 'oauth: challenge: must be true or false'],
    [{ oauth: { narrow_service_scope: 1 } }, 'narrow_service_scope: must be true or false'],
    [{ security_schemes: 1 }, 'security_schemes: must be true or false'],
    [{ allowed_origins: 'a' }, 'allowed_origins: must be a list of origins'],
    [{ allowed_origins: [1] }, 'allowed_origins: 0: must be an origin'],
    [{ endpoints: [] }, "endpoints: must be an object with paths as keys, for example { '/assist"],
    [{ endpoints: { '/a': 1 } }, 'endpoints: /a: must be an object { name, instructions, scopes'],
    [{ endpoints: { '/a': { name: '' } } }, 'endpoints: /a: name: is empty'],
    [{ endpoints: { '/a': { name: 1 } } }, '/a: name: must be a string with the endpoint name'],
    [{ endpoints: { '/a': { instructions: 1 } } }, 'must be a string with instructions for the'],
    [{ endpoints: { '/a': { scopes_supported: [] } } }, 'must contain at least one scope'],
    [{ endpoints: { '/a': { scopes_supported: 1 } } }, 'must be a list of scope names'],
    [{ endpoints: { '/a': { scopes_supported: [1] } } }, '0: must be a scope name'],
  ])('refuses %j', (section, problem) => {
    expect(problemsOf(section)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    { tools: 1 },
    { oauth: { a: 1 } },
    { transport: { a: 1 } },
    { endpoints: { '/a': { b: 1 } } },
  ])('refuses a setting that it does not know: %j', (section) => {
    expect(problemsOf(section)).toHaveLength(1);
  });

  test.each(['https://app.example/', 'app.example', 'null', 'https://app.example:443', ''])(
    'refuses %j as an origin',
    (origin) => {
      expect(problemsOf({ allowed_origins: [origin] })).toEqual([
        'allowed_origins: 0: must be an origin such as https://app.example',
      ]);
    },
  );

  test.each(['', '/', 'a', '/a/', '/.a', '/a/.b', '/%41', '/a//b', '/a b', '/mcp'])(
    'refuses %j as the path of an endpoint',
    (path) => {
      expect(problemsOf({ endpoints: { [path]: {} } })).toHaveLength(1);
    },
  );
});
