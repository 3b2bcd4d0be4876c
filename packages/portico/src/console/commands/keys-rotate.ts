import { readSpan } from '../spans.ts';
import type { AddCommands, ConsoleContext } from '../../application/console-context.ts';
import type { KeyDescription } from '../../keys/key-states.ts';
import type { KeyRotation } from '../../keys/rotation.ts';
import type { SigningAlgorithm } from '../../store/client.ts';
import { openServer } from '../open-server.ts';
import { keyRow, shownKid } from './keys-list.ts';
import type { ClientChoices } from './client-create.ts';
import { joinAlternatives } from './client-options.ts';
import { orFail } from './or-fail.ts';

const NOW_MEANS =
  'Applications refuse ID tokens from the old keys as soon as they fetch the key set again. ' +
  'Applications that ' +
  'cache the key set refuse new ID tokens until then. Access tokens and refresh tokens stay valid.';

export function addKeysRotate({ algorithms }: ClientChoices): AddCommands {
  return (program, context) => {
    program
      .command('oauth:keys:rotate')
      .description(
        'replace the signing keys: publish the next key now, use it in 15 minutes, and remove ' +
          'keys that are no longer needed to verify ID tokens. You can run this command on a ' +
          'schedule, for example every hour with --if-older-than 30d',
      )
      .option(
        '--alg <algorithm>',
        `replace only the key for this algorithm: ${joinAlternatives(algorithms)} (default: ` +
          'every algorithm that has a key)',
      )
      .option(
        '--if-older-than <time>',
        'rotate only if the current key has signed for at least this long, such as 30d, 12h, 90m or ' +
          'a number of seconds',
      )
      .option(
        '--staged-for <time>',
        'how long the next key is published before it signs (default and minimum: 905 seconds)',
      )
      .option(
        '--now',
        'use this if a key may have been stolen: the new key signs immediately, and all ' +
          'other keys are removed. ' +
          NOW_MEANS,
      )
      .option('--json', 'print only JSON to standard output')
      .action((given: Given) => rotate(context, given));
  };
}

interface Given {
  readonly alg?: SigningAlgorithm;
  readonly now?: boolean;
  readonly ifOlderThan?: string;
  readonly stagedFor?: string;
  readonly json?: boolean;
}

async function rotate(context: ConsoleContext, given: Given): Promise<void> {
  const { alg, now, ifOlderThan, stagedFor, json } = given;
  if (now === true && (ifOlderThan !== undefined || stagedFor !== undefined))
    context.fail('Use --now without --if-older-than and --staged-for');
  const options = {
    ...(alg === undefined ? {} : { algorithm: alg }),
    ...(now === true ? { now } : {}),
    ...(ifOlderThan === undefined
      ? {}
      : { ifOlderThan: readSpan(context, '--if-older-than', ifOlderThan) }),
    ...(stagedFor === undefined ? {} : { stagedFor: readSpan(context, '--staged-for', stagedFor) }),
  };
  const { keys } = await openServer(context);
  if (now === true) context.note(NOW_MEANS);
  const rotation = await orFail(context, keys.rotate({ ...options, by: 'console' }));
  if (json === true) return context.printJson(rotationRow(rotation));
  for (const line of getLines(rotation)) context.print(line);
}

function rotationRow({ created, staged, removed, keys }: KeyRotation) {
  return {
    created: created.map(keyRow),
    staged: staged.map(keyRow),
    removed,
    keys: keys.map(keyRow),
  };
}

function getLines({ created, staged, removed, keys }: KeyRotation): readonly string[] {
  const made = new Set([...created, ...staged].map(({ kid }) => kid));
  const waiting = keys.filter(({ kid, state }) => state === 'staged' && !made.has(kid));
  const lines = [
    ...created.map((key) => `The key ${getName(key)} signs from now on.`),
    ...staged.map((key) => `The key ${getName(key)} is published and signs from ${getTime(key)}.`),
    ...waiting.map(
      (key) => `The key ${getName(key)} was already published and signs from ${getTime(key)}.`,
    ),
    ...removed.map((kid) => `Removed the key ${shownKid(kid)}.`),
  ];
  return lines.length === 0 ? ['No key is old enough to be replaced or removed.'] : lines;
}

function getName({ kid, algorithm }: KeyDescription): string {
  return `${shownKid(kid)} (${algorithm})`;
}

function getTime({ signsFrom }: KeyDescription): string {
  return new Date(signsFrom ?? 0).toISOString();
}
