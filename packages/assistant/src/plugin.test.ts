import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { assistant } from './plugin.ts';

const plugin = assistant();

/** Returns the settings that the plugin takes from these variables. */
function defaultsIn(env: Readonly<Record<string, string>>) {
  const { defaults } = plugin;
  return typeof defaults === 'function' ? defaults(env) : defaults;
}

test('an assistant has two commands', async () => {
  const program = new Command();
  await plugin.commands?.(program, {} as never);
  expect(program.commands.map((command) => command.name())).toEqual([
    'assistant:setup',
    'assistant:doctor',
  ]);
});

describe('the settings of an assistant', () => {
  const SCOPES = {
    'mcp:service': 'Use the tools that need no account',
    'mcp:tools': 'Use your tools for you',
  };

  test('come from the environment', () => {
    const env = {
      PUBLIC_URL: 'https://app.example',
      ASSISTANT_NAME: 'Kitchen',
      ASSISTANT_MCP_RESOURCE: 'https://app.example/mcp',
    };
    expect(defaultsIn(env)).toEqual({
      public_url: 'https://app.example',
      oauth_server: { name: 'Kitchen', audience: 'https://app.example/mcp', scopes: SCOPES },
      mcp: { name: 'Kitchen', resource: 'https://app.example/mcp' },
      assistant: {},
    });
    expect(plugin.variables).toEqual({
      ASSISTANT_NAME: 'oauth_server:name',
      ASSISTANT_MCP_RESOURCE: 'mcp:resource',
    });
  });

  test.each([{}, { ASSISTANT_NAME: '', ASSISTANT_MCP_RESOURCE: '' }])(
    'are missing without a variable, and with an empty one: %j',
    (env) => {
      expect(defaultsIn(env)).toEqual({
        public_url: undefined,
        oauth_server: { name: undefined, audience: undefined, scopes: SCOPES },
        mcp: { name: undefined, resource: undefined },
        assistant: {},
      });
    },
  );

  const RIGHT = {
    name: 'a'.repeat(90),
    resource: 'https://app.example/mcp' as string | undefined,
    linking: true,
    uris: ['https://vendor.example/callback'],
    scopes: ['mcp:tools', 'notes:read'],
    supported: ['mcp:tools', 'notes:read'],
  };
  const problems = (changes: Partial<typeof RIGHT>) => {
    const { name, resource, linking, uris, scopes, supported } = { ...RIGHT, ...changes };
    return plugin.problems?.({
      oauth_server: { name },
      mcp: { resource, oauth: { scopes_supported: supported } },
      assistant: { account_linking: linking, redirect_uris: uris, user_scopes: scopes },
    });
  };

  test.each([{}, { linking: false, uris: [] }, { linking: false }])('are right: %j', (changes) => {
    expect(problems(changes)).toEqual([]);
  });

  test.each<[Partial<typeof RIGHT>, string, string]>([
    [
      { name: 'a'.repeat(91) },
      'oauth_server:name',
      'has more than 90 characters; choose a shorter name (ASSISTANT_NAME or oauth_server:name)',
    ],
    [
      { resource: undefined },
      'mcp:resource',
      'is missing; set ASSISTANT_MCP_RESOURCE to PUBLIC_URL plus /mcp',
    ],
    [
      { uris: [] },
      'assistant:redirect_uris',
      'is empty, but assistant:account_linking is true; copy the callback URIs from the ' +
        "vendor's console",
    ],
    [
      { scopes: ['mcp:service'], supported: ['mcp:service'] },
      'assistant:user_scopes',
      'must not contain mcp:service, which is only for the service client',
    ],
    [
      { supported: ['notes:read', 'mcp:tools'] },
      'mcp:oauth:scopes_supported',
      'must be the same as assistant:user_scopes: mcp:tools, notes:read',
    ],
    [
      { scopes: ['mcp:tool', 's'], supported: ['mcp:tools'] },
      'mcp:oauth:scopes_supported',
      'must be the same as assistant:user_scopes: mcp:tool, s',
    ],
  ])('are wrong: %j', (changes, key, message) => {
    expect(problems(changes)).toEqual([{ key, message }]);
  });
});
