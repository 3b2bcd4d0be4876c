import { describe, expect, test } from 'vitest';
import { runCommand } from '../../console/commands/run-command.fixture.ts';
import { RegistrationError } from '../../errors.ts';
import { addInitialAccessTokenCommands } from './commands.ts';

const TOKEN = {
  id: 'abc',
  note: '',
  uses: 3,
  usesLeft: 2,
  createdAt: Date.UTC(2026, 0, 1) + 1,
  expiresAt: Date.UTC(2026, 0, 2) + 999,
};
const AS_JSON = {
  id: 'abc',
  note: '',
  uses: 3,
  uses_left: 2,
  created_at: Date.UTC(2026, 0, 1) / 1000,
  expires_at: Date.UTC(2026, 0, 2) / 1000,
};
const BY = { by: 'console' };

/** Runs a command. `asked` has what it asked of the initial access tokens. */
async function run(
  args: readonly string[],
  { answer, ...config }: { readonly answer?: unknown; readonly registration?: string } = {},
) {
  const asked: unknown[] = [];
  const method =
    (name: string) =>
    async (...given: unknown[]) => {
      asked.push([name, ...given]);
      if (answer instanceof Error) throw answer;
      return answer;
    };
  const initialAccessTokens = Object.fromEntries(
    ['create', 'list', 'revoke'].map((name) => [name, method(name)]),
  );
  const server = { initialAccessTokens, config };
  return { ...(await runCommand(addInitialAccessTokenCommands, server, ...args)), asked };
}

describe('oauth:initial-access-token:create', () => {
  const NAME = 'oauth:initial-access-token:create';
  const answer = { ...TOKEN, token: 'secret' };
  const COPY = 'Copy the token now. It is not shown again: only its hash is stored. Its id is abc.';

  test('prints the token, and asks only for what it was given', async () => {
    expect(await run([NAME], { answer, registration: 'open' })).toStrictEqual({
      printed: ['initial access token: secret'],
      noted: [COPY],
      failed: null,
      asked: [['create', {}, BY]],
    });
    const args = [NAME, '--uses', '3', '--lifetime', '12h', '--note', 'the team'];
    expect((await run(args, { answer, registration: 'open' })).asked).toEqual([
      ['create', { uses: 3, lifetime: 43_200, note: 'the team' }, BY],
    ]);
  });

  test.each([{}, { registration: 'off' }])('notes that registration is off: %j', async (config) => {
    expect((await run([NAME], { answer, ...config })).noted).toEqual([
      COPY,
      'oauth_server:registration is off, so no client can register with this token yet.',
    ]);
  });

  test('prints only JSON on request', async () => {
    expect(await run([NAME, '--json'], { answer })).toMatchObject({
      printed: [{ initial_access_token: 'secret', ...AS_JSON }],
      noted: [],
    });
  });

  test('fails with the reason', async () => {
    const refused = await run([NAME], { answer: new RegistrationError('Too many uses') });
    expect(refused).toMatchObject({ printed: [], noted: [], failed: 'Too many uses' });
    const span = await run([NAME, '--lifetime', 'long'], { answer });
    expect(span.failed).toMatch(/^--lifetime /);
    expect(span.asked).toEqual([]);
  });
});

describe('oauth:initial-access-token:list', () => {
  const NAME = 'oauth:initial-access-token:list';

  test('prints a line for each token', async () => {
    const answer = [TOKEN, { ...TOKEN, id: 'def', note: 'the team' }];
    const line = (id: string) => `${id}  2 of 3 uses left, until 2026-01-02T00:00:00.999Z`;
    expect(await run([NAME], { answer })).toEqual({
      printed: [`${line('abc')}\n${line('def')}  the team`],
      noted: [],
      failed: null,
      asked: [['list']],
    });
    expect((await run([NAME, '--json'], { answer: [TOKEN] })).printed).toEqual([[AS_JSON]]);
  });

  test('notes how to create the first one', async () => {
    expect(await run([NAME], { answer: [] })).toMatchObject({
      printed: [],
      noted: [
        'There is no initial access token. To create one, see ' +
          'oauth:initial-access-token:create --help.',
      ],
    });
    expect(await run([NAME, '--json'], { answer: [] })).toMatchObject({ printed: [[]], noted: [] });
  });
});

test('oauth:initial-access-token:revoke revokes a token, or fails with the reason', async () => {
  const args = ['oauth:initial-access-token:revoke', 'abc'];
  expect(await run(args)).toEqual({
    printed: ['The initial access token abc is revoked.'],
    noted: [],
    failed: null,
    asked: [['revoke', 'abc', BY]],
  });
  const refused = await run(args, { answer: new RegistrationError('Unknown') });
  expect(refused).toMatchObject({ printed: [], failed: 'Unknown' });
});
