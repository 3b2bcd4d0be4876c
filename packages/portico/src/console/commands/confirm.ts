import { createInterface } from 'node:readline/promises';
import type { ConsoleContext } from '../../application/console-context.ts';

export interface Confirmation {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Asks the operator to type `yes`. Any other answer ends the command. Without a terminal, the
 * command requires `--yes`.
 */
export async function requireYes(
  context: ConsoleContext,
  question: string,
  yes: boolean,
): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    context.fail(
      `${question} This command asks for confirmation, but there is no terminal. To confirm, ` +
        'add --yes.',
    );
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The input may end before the operator has answered.
    const ended = new Promise<string>((resolve) => asked.once('close', () => resolve('')));
    const answer = await Promise.race([
      asked.question(`${question} Type yes to continue: `),
      ended,
    ]);
    if (answer.trim() !== 'yes') context.fail('Nothing was changed.');
  } finally {
    asked.close();
  }
}
