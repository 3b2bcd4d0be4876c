import type { AddCommands } from '../../application/console-context.ts';
import type { KeyDescription, KeyState } from '../../keys/key-states.ts';
import { quoted } from '../../quoting.ts';
import { openServer } from '../open-server.ts';

export const addKeysList: AddCommands = (program, context) => {
  program
    .command('oauth:keys:list')
    .description(
      'list the signing keys: which keys sign now, which sign later, and which only verify ' +
        '(and until when)',
    )
    .option('--json', 'print only JSON to standard output')
    .action(async (options: { json?: boolean }) => {
      const keys = await (await openServer(context)).keys.list();
      if (options.json === true) return context.printJson({ items: keys.map(keyRow), next: null });
      if (keys.length === 0)
        return context.note('There is no signing key. Run npx portico oauth:server:setup.');
      context.print(keys.map(describeKey).join('\n\n'));
    });
};

export function keyRow(key: KeyDescription) {
  const { kid, algorithm, state, createdAt, signsFrom, retiredAt, removableAt, file } = key;
  return {
    kid,
    alg: algorithm,
    state,
    created_at: isoTime(createdAt),
    signs_from: isoTime(signsFrom),
    retired_at: isoTime(retiredAt),
    removable_at: isoTime(removableAt),
    file,
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

const STATES: Readonly<Record<KeyState, string>> = {
  staged: 'published; signs later',
  published: 'published; never signs, because of its file name',
  signing: 'signs',
  retired: 'verifies only',
};

function describeKey(key: KeyDescription): string {
  const { kid, algorithm, state, createdAt, signsFrom, retiredAt, removableAt, file } = key;
  const line = (what: string, time: number | null) =>
    time === null ? [] : [`  ${what.padEnd(11)} ${new Date(time).toISOString()}`];
  return [
    `${shownKid(kid)}  ${algorithm}  (${STATES[state]})`,
    ...line('created', createdAt),
    ...line(
      state === 'staged' ? 'signs from' : 'signs since',
      state === 'retired' ? null : signsFrom,
    ),
    ...line('retired', retiredAt),
    ...line('removable', removableAt),
    file === null ? '  signed by   a KeySigner' : `  file        ${file}`,
  ].join('\n');
}

/** A key file that was created by hand can have any id. An unusual id is in quotes. */
export function shownKid(kid: string): string {
  return /^[\w.~-]{1,100}$/.test(kid) ? kid : quoted(kid);
}
