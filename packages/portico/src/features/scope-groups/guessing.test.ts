import { expect, test } from 'vitest';
import { guessedGroup } from './guessing.ts';

test.each([
  [
    'read',
    'notes:read drive.readonly files/list READ_NOTES read notesRead v2Search notes:thread-view',
  ],
  ['change', 'notes:write notes notes:read.write readAll notes:readWrite READALL 42 - admin:read'],
  // Only whole words of the name decide.
  ['change', 'bread:bake thread notes:reading notesread outlist'],
  ['identity', 'openid profile email address phone'],
  ['read', 'email:read'],
  ['change', 'Openid profiles'],
])(
  'a scope without a configured group gets the group %s from the words in its name: %s',
  (group, names) => {
    const guessed = names.split(' ').map((name) => [name, guessedGroup(name)]);
    expect(guessed).toEqual(names.split(' ').map((name) => [name, group]));
  },
);
