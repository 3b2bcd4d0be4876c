import { KeyFiles } from '../keys/key-files.ts';
import { isStagedFile } from '../keys/key-names.ts';
import type { KeyDescription } from '../keys/key-states.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import type { Subject } from './subject.ts';

/**
 * The age at which the doctor advises a rotation, in milliseconds. NIST SP 800-57 recommends at
 * most one to three years for a private signing key.
 */
const OLD = 366 * 86_400_000;
/** How far a key's time may be ahead of this machine's clock, in milliseconds. */
const AHEAD = 86_400_000;

/**
 * Reports staged keys (also unreadable ones), keys from a clock that was ahead, and keys that an
 * operator must rotate or can remove.
 */
export async function examineRotation({ server }: Subject): Promise<readonly Finding[]> {
  const keys = await server.keys.list();
  const now = server.clock();
  return [
    ...(await unreadable(new KeyFiles(server.config.key_path, server.keys.algorithms))),
    ...staged(keys),
    ...ahead(keys, now),
    ...due(keys, now),
    ...removable(keys, now),
  ];
}

/**
 * Finds staged keys that this process cannot read and so does not publish. Other processes will
 * sign with them.
 */
async function unreadable(files: KeyFiles): Promise<readonly Finding[]> {
  const names = (await files.names()).filter(isStagedFile);
  const read = await Promise.allSettled(names.map((name) => files.read(name)));
  const faults = names.filter((_, index) => read[index]?.status === 'rejected');
  if (faults.length === 0) return [];
  return [
    failing(
      `staged keys in ${files.directory} cannot be read: ${faults.join(', ')}`,
      'make these files readable for the user that runs the server, but not for other users. ' +
        'Or remove them and run npx portico oauth:keys:rotate again',
    ),
  ];
}

function staged(keys: readonly KeyDescription[]): readonly Finding[] {
  return keys
    .filter(({ state }) => state === 'staged')
    .map(({ kid, algorithm, signsFrom }) =>
      ok(`${kid} (${algorithm}) is published and signs from ${isoTime(signsFrom)}`),
    );
}

/**
 * Finds keys from a machine whose clock was ahead. Until their time, a rotation neither replaces
 * such a key nor creates another.
 */
function ahead(keys: readonly KeyDescription[], now: number): readonly Finding[] {
  return keys.flatMap(({ kid, algorithm, state, createdAt, signsFrom, file }) => {
    const time = state === 'staged' ? createdAt : signsFrom;
    if (file === null || time === null || time - now <= AHEAD) return [];
    return warning(
      `${kid} (${algorithm}) was created while a clock was ahead, at ${isoTime(time)}, so ` +
        'oauth:keys:rotate does not replace the keys when they are due',
      state === 'staged'
        ? `correct the clock. Then remove ${file}, and run npx portico oauth:keys:rotate`
        : `correct the clock. Then rename ${file}, so that its name starts with the current time ` +
            'in milliseconds, and remove a staged key of the same algorithm',
    );
  });
}

function due(keys: readonly KeyDescription[], now: number): readonly Finding[] {
  const hasSuccessor = (key: KeyDescription) =>
    keys.some(({ algorithm, state }) => algorithm === key.algorithm && state === 'staged');
  return keys
    .filter(
      ({ state, signsFrom }) => state === 'signing' && signsFrom !== null && now - signsFrom > OLD,
    )
    .filter((key) => !hasSuccessor(key))
    .map(({ kid, algorithm, signsFrom, file }) =>
      warning(
        `${kid} (${algorithm}) has been the signing key for more than a year (since ${isoTime(signsFrom)})`,
        file === null
          ? 'pass another KeySigner with its signsFrom time'
          : 'run npx portico oauth:keys:rotate --if-older-than 90d on a schedule',
      ),
    );
}

function removable(keys: readonly KeyDescription[], now: number): readonly Finding[] {
  const old = keys.filter(({ removableAt }) => removableAt !== null && removableAt <= now);
  if (old.length === 0) return [];
  return [
    warning(
      'these keys are no longer needed to verify ID tokens: ' +
        old.map(({ kid }) => kid).join(', '),
      'run npx portico oauth:keys:prune. To remove such keys automatically, run npx portico ' +
        'oauth:keys:rotate --if-older-than 90d on a schedule',
    ),
  ];
}

function isoTime(time: number | null): string {
  return new Date(time ?? 0).toISOString();
}
