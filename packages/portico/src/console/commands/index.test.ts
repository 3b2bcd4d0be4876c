import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { ConsoleContext } from '../../application/console-context.ts';
import type { ClientChoices } from './client-create.ts';
import { addServerCommands } from './index.ts';

const CHOICES = {
  demands: [{ option: { flag: '--demand', says: 'a demand' } }],
  fields: [
    { name: 'texts', option: { flag: '--texts <text>', says: 'texts' } },
    { name: 'marked', shape: 'flag', option: { flag: '--marked', says: 'a mark' } },
    { name: 'hidden' },
  ],
  profiles: [
    { name: 'one', says: 'the first' },
    { name: 'two', says: 'the second' },
  ],
  algorithms: ['RS256', 'ES256', 'EdDSA'],
} as unknown as ClientChoices;

function commandsWith(choices: ClientChoices): readonly Command[] {
  const program = new Command();
  addServerCommands(choices)(program, {} as ConsoleContext);
  return program.commands;
}

test('each command has its arguments and options', () => {
  const shown = commandsWith(CHOICES).map((command) => {
    const name = `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`.trim();
    return `${name}: ${command.options.map(({ flags }) => flags).join(', ')}`;
  });
  expect(shown).toEqual([
    'oauth:server:setup: --json',
    'oauth:server:doctor: --online, --json',
    'oauth:client:create <name>: --redirect <uri>, --scope <scopes>, --grant <grant>, ' +
      '--public, --native, --allow-scheme <scheme>, --id-token-alg <algorithm>, ' +
      '--jwks <file or URL>, --jwks-alg <algorithm>, --workload <issuer>, ' +
      '--subject <pattern>, --demand, --texts <text>, --marked, --profile <profile>, ' +
      '--site <url>, --logo <file or URL>, --json',
    'oauth:client:list: --limit <number>, --after <cursor>, --json',
    'oauth:client:show <client_id>: --json',
    'oauth:client:update <client_id>: --name <name>, --add-redirect-uri <uri>, ' +
      '--remove-redirect-uri <uri>, --allow-scheme <scheme>, --add-scope <scopes>, ' +
      '--remove-scope <scopes>, --add-grant <grant>, --remove-grant <grant>, ' +
      '--jwks <file or URL>, --jwks-alg <algorithm>, --site <url>, --remove-site, ' +
      '--logo <file or URL>, --remove-logo, --json, --texts <text>, --marked, --no-marked',
    'oauth:client:rotate-secret <client_id>: --overlap <span>, --now, --json',
    'oauth:client:revoke <client_id>: ',
    'oauth:client:unblock <url>: ',
    'oauth:authorization:list: --client <client_id>, --person <provider_and_id...>, ' +
      '--scope <scope>, --unused-since <time>, --limit <number>, --after <cursor>, --json',
    'oauth:authorization:revoke <ids...>: --json',
    'oauth:person:revoke <provider> <id>: --json',
    'oauth:person:erase <provider> <id>: --yes, --json',
    'oauth:restored: --yes, --json',
    'oauth:keys:generate: --alg <algorithm>, --json',
    'oauth:keys:list: --json',
    'oauth:keys:rotate: --alg <algorithm>, --if-older-than <time>, --staged-for <time>, --now, --json',
    'oauth:keys:prune: --older-than <span>, --json',
    'oauth:prune: --json',
    'oauth:outbox: --receiver <receiver>, --undelivered, --limit <number>, --after <id>, --json',
    'oauth:outbox:retry [id]: --receiver <receiver>, --all',
    'oauth:outbox:discard [id]: --receiver <receiver>, --undelivered',
  ]);
});

/** The help of one command, on long lines. */
function helpOf(name: string, choices = CHOICES): string {
  const command = commandsWith(choices).find((each) => each.name() === name);
  let help = '';
  command?.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 1000 });
  command?.outputHelp();
  return help;
}

test('the help names the algorithms, the profiles and what a new value replaces', () => {
  const create = helpOf('oauth:client:create');
  expect(create).toContain(': RS256, ES256 or EdDSA (default: RS256)');
  expect(create).toMatch(/--profile <profile> +one: the first; two: the second\n/);
  expect(create).toMatch(/--texts <text> +texts\n/);
  expect(create).toMatch(/--demand +a demand\n/);
  expect(create).toContain('(see oauth:keys:generate --help)');
  const update = helpOf('oauth:client:update');
  expect(update).toContain(
    ' --add-redirect-uri=https://new.example/cb --remove-redirect-uri=https://old.example/cb',
  );
  expect(update).toMatch(/--texts <text> +texts; this replaces all existing values, and an empty/);
  expect(update).toMatch(/--marked +a mark\n/);
  expect(update).toMatch(/--no-marked +undo --marked\n/);
  expect(helpOf('oauth:keys:generate')).toContain('(--id-token-alg)');
  expect(helpOf('oauth:keys:prune')).toContain('(default: oauth_server:id_token_ttl)');
  expect(helpOf('oauth:outbox')).toContain(', newest first\n');
  for (const name of ['generate', 'rotate'])
    expect(helpOf(`oauth:keys:${name}`)).toContain(': RS256, ES256 or EdDSA (default: ');
});

test('a field with one text is removed by an empty value', () => {
  const field = { name: 'text', shape: 'text', option: { flag: '--text <text>', says: 'a text' } };
  const choices = { ...CHOICES, fields: [field] } as unknown as ClientChoices;
  expect(helpOf('oauth:client:update', choices)).toMatch(
    /--text <text> +a text; an empty value removes it\n/,
  );
});

test('there is no option for a profile if no feature adds one', () => {
  const choices = { ...CHOICES, profiles: [] };
  expect(helpOf('oauth:client:create', choices)).not.toContain('--profile');
});
