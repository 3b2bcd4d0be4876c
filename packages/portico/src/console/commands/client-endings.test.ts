import { describe, expect, test } from 'vitest';
import { RegistrationError } from '../../errors.ts';
import type { Client } from '../../store/client.ts';
import { addClientCreate } from './client-create.ts';
import { addClientRevoke } from './client-revoke.ts';
import { addClientRotateSecret } from './client-rotate-secret.ts';
import { addClientShow } from './client-show.ts';
import { addClientUnblock } from './client-unblock.ts';
import { answering, BY, CHOICES, LATER } from '../../../../../test/support/client-commands.ts';
import { runCommand } from './run-command.fixture.ts';

describe('oauth:client:rotate-secret', () => {
  async function rotated(previousExpiresAt: number | null, ...options: string[]) {
    const answer = { secret: 'new', previousExpiresAt };
    const { asked, server } = answering('rotateSecret', answer);
    const add = addClientRotateSecret;
    return {
      ...(await runCommand(add, server, 'oauth:client:rotate-secret', 'id', ...options)),
      asked,
    };
  }
  const COPY = 'Copy the secret now. It is not shown again: only its hash is stored.';

  test('prints the secret, and until when the previous one is accepted', async () => {
    expect(await rotated(LATER)).toEqual({
      printed: ['client secret: new'],
      noted: [COPY, 'The previous secret is accepted until 2026-01-02T00:00:01.999Z.'],
      failed: null,
      asked: [['id', undefined, BY]],
    });
    expect(await rotated(null, '--now')).toEqual({
      printed: ['client secret: new'],
      noted: [COPY, 'The previous secret is no longer accepted.'],
      failed: null,
      asked: [['id', 0, BY]],
    });
    expect((await rotated(LATER, '--overlap=12h')).asked).toEqual([['id', 43_200, BY]]);
    for (const [until, seconds] of [
      [LATER, LATER / 1000 - 0.999],
      [null, null],
    ] as const)
      expect(await rotated(until, '--json')).toMatchObject({
        printed: [{ client_id: 'id', client_secret: 'new', previous_secret_expires_at: seconds }],
        noted: [],
      });
  });

  test.each([
    [['--now', '--overlap=0'], 'Use either --overlap or --now, not both'],
    [['--overlap=0'], 'With --overlap 0, the application cannot authenticate'],
    [['--overlap=x'], '--overlap must be a duration'],
  ])('refuses %j', async (options, says) => {
    expect(await rotated(LATER, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      printed: [],
      asked: [],
    });
  });
});

describe('oauth:client:revoke', () => {
  async function revoked(id: string, registeredBy: Client['registeredBy'], wasKnown = true) {
    const answer = { client: { registeredBy }, wasKnown };
    const { asked, server } = answering('revoke', answer);
    const said = await runCommand(addClientRevoke, server, 'oauth:client:revoke', id);
    expect(asked).toEqual([[id, BY]]);
    return said;
  }

  test('says what no longer works, and what still does', async () => {
    expect(await revoked('id', 'operator')).toMatchObject({
      printed: ['The client id and all its tokens are revoked.'],
      noted: [],
    });
    expect(await revoked('id', 'registration')).toMatchObject({
      printed: ['The client id, which registered itself, and all its tokens are revoked.'],
      noted: ['It can register again as another client while oauth_server:registration allows it.'],
    });
    const url = 'https://client.example/a.json';
    expect(await revoked(url, 'document')).toMatchObject({
      printed: [
        `The URL ${url} is blocked. People can no longer allow this application. All its tokens ` +
          'are revoked.',
      ],
      noted: [
        'Other documents of client.example are not blocked. To block them too, add the host to ' +
          'oauth_server:client_id_metadata_documents:denied_hosts.',
      ],
    });
    expect((await revoked(url, 'document', false)).printed).toEqual([
      `The URL ${url} is blocked. No person has used it yet. People cannot allow this application.`,
    ]);
  });
});

test('oauth:client:unblock says that earlier access stays revoked', async () => {
  const { asked, server } = answering('unblock', undefined);
  const said = await runCommand(addClientUnblock, server, 'oauth:client:unblock', 'https://a');
  expect(said.printed).toEqual([
    'The URL https://a is no longer blocked. People must allow the application again. Earlier ' +
      'access stays revoked.',
  ]);
  expect(asked).toEqual([['https://a', BY]]);
});

test.each([
  ['oauth:client:show', 'show', addClientShow(CHOICES)],
  ['oauth:client:revoke', 'revoke', addClientRevoke],
  ['oauth:client:unblock', 'unblock', addClientUnblock],
  ['oauth:client:rotate-secret', 'rotateSecret', addClientRotateSecret],
  ['oauth:client:create', 'create', addClientCreate(CHOICES)],
] as const)('%s ends with the reason of a refusal', async (name, method, add) => {
  const { server } = answering(method, new RegistrationError('There is no such client'));
  expect(await runCommand(add, server, name, 'id')).toEqual({
    printed: [],
    noted: [],
    failed: 'There is no such client',
  });
});
