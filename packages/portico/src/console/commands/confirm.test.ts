import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import type { ConsoleContext } from '../../application/console-context.ts';
import { requireYes } from './confirm.ts';

const context = {
  fail(message: string): never {
    throw new Error(message);
  },
} as ConsoleContext;
afterEach(() => void vi.restoreAllMocks());

/** Asks for confirmation on a terminal, where the operator types this. Null closes the input. */
async function asked(typed: string | null) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(output as unknown as typeof process.stderr);
  const answering = requireYes(context, 'It removes all.', false);
  if (typed === null) input.end();
  else input.write(`${typed}\n`);
  const end = await answering.then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
  return { end, said: String(output.read()), isPaused: input.isPaused() };
}

test.each(['yes', ' yes '])('the answer %j confirms', async (typed) => {
  expect(await asked(typed)).toEqual({
    end: null,
    said: 'It removes all. Type yes to continue: ',
    isPaused: true,
  });
});

test.each(['', 'y', 'no', 'YES', 'yes!', null])('the answer %j changes nothing', async (typed) => {
  expect(await asked(typed)).toMatchObject({ end: 'Nothing was changed.', isPaused: true });
});

test('--yes confirms without a question', async () => {
  const stdin = vi.spyOn(process, 'stdin', 'get');
  await requireYes(context, 'It removes all.', true);
  expect(stdin).not.toHaveBeenCalled();
});

test('without a terminal, --yes is required', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: false });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  await expect(requireYes(context, 'It removes all.', false)).rejects.toThrow(
    'It removes all. This command asks for confirmation, but there is no terminal. To confirm, ' +
      'add --yes.',
  );
});
