import { describe, expect, test } from 'vitest';
import type { Profile, UserInterface } from 'portico';
import { aboutPerson, calledBy, personRow } from './formatting.ts';
import { findPeople, knownPeople, MOST_FOUND } from './people.ts';
import { pageLinks } from './links.ts';

const PERSON = { provider: 'users', id: '1' };
const account = (profile: unknown, isActive: unknown = true): UserInterface => ({
  reference: PERSON,
  isActive: () => isActive as boolean,
  getProfile: () => profile as Profile,
});
/** An account whose host fails to describe it. */
const BROKEN: UserInterface = {
  ...account({}),
  getProfile: () => {
    throw new Error('no profile');
  },
};
const known = async (answer: UserInterface | null | Error) =>
  (
    await knownPeople(
      { loadAccount: async () => (answer instanceof Error ? Promise.reject(answer) : answer) },
      [PERSON],
    )
  )(PERSON);

describe('the names of people from the application', () => {
  // @shows AS-33.11
  test.each([
    ['markup', { name: '<b onclick="x">', email: '"><script>' }],
    ['text direction controls', { name: 'a\u202eb\u2066c', email: 'd\u200be' }],
    ['control characters', { name: 'a\u0007b\u2028c' }],
    ['values that are not text', { name: { text: 'x' }, email: ['a'] }],
    ['empty and missing values', { name: '  ', email: undefined }],
  ])('are escaped as plain text: %s', async (_, profile) => {
    const who = await known(account(profile));
    const { html } = personRow(pageLinks(''), PERSON, who);
    expect(html).not.toMatch(/<b |<script|onclick="|[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
    expect(html).toContain('users');
  });

  // @shows AS-33.11
  test('are cut at 100 characters', async () => {
    const { name, email } = await known(
      account({ name: '\u{1F600}'.repeat(500), email: 'x'.repeat(500) }),
    );
    expect([Array.from(name ?? '').length, (email ?? '').length]).toEqual([100, 100]);
  });

  test('include the state of the account, which is unknown if the host throws an error', async () => {
    const names = { name: 'Ada', email: 'ada@example.com' };
    expect(await known(account(names))).toEqual({ ...names, account: 'active' });
    expect((await known(account(names, Promise.resolve(true)))).account).toBe('suspended');
    expect(await known(null)).toEqual({ name: null, email: null, account: 'gone' });
    const unknown = { name: null, email: null, account: 'unknown' };
    expect(await known(new Error('no answer'))).toEqual(unknown);
    expect(await known(BROKEN)).toEqual(unknown);
    const gone = { name: null, email: null, account: 'gone' } as const;
    expect(calledBy(PERSON, gone).html).toContain('>1<');
    expect(aboutPerson(PERSON, gone).html).toContain('no account');
  });
});

describe('the account data of a person', () => {
  // @shows AS-33.11
  test('is shown for the right person, even if two providers use the same id', async () => {
    const people = [PERSON, { provider: 'users', id: '2' }, { provider: 'staff', id: '1' }];
    const of = await knownPeople(
      {
        loadAccount: async ({ provider, id }) => account({ name: `${provider} ${id}` }),
      },
      people,
    );
    expect(people.map((each) => of(each).name)).toEqual(['users 1', 'users 2', 'staff 1']);
    expect(of({ provider: 'staff', id: '2' }).account).toBe('unknown');
  });

  // @shows AS-33.11
  test('has no name or e-mail address if the host returns a blank value or a non-string', async () => {
    expect(await known(account({ name: { text: 'x' }, email: '  ' }))).toMatchObject({
      name: null,
      email: null,
    });
    const long = 'x'.repeat(100);
    expect(await known(account({ name: ' Ada ', email: long }))).toMatchObject({
      name: 'Ada',
      email: long,
    });
  });
});

describe('a search for people', () => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...account({ name: 'Ada' }),
      reference: { provider: 'users', id: String(index) },
    }));

  // @shows AS-33.11
  test('shows at most 20 people, each once, even if the host returns more', async () => {
    const found = await findPeople(async () => [...people(3), ...people(500)], 'ada');
    expect([found.people.length, found.more]).toEqual([17, true]);
    expect(await findPeople(async () => people(MOST_FOUND), 'ada')).toMatchObject({ more: false });
    expect((await findPeople(async () => 'rows' as never, 'ada')).people).toEqual([]);
  });

  test('requests one more person than the page shows, with a search text of up to 100 characters', async () => {
    const asked: unknown[] = [];
    const text = '\u{1F600}'.repeat(100);
    await findPeople(async (...wanted) => (asked.push(wanted), []), ` ${text} `);
    expect(asked).toEqual([[text, 21]]);
  });

  // @shows AS-33.11
  test('shows the id of a person whom the host cannot describe', async () => {
    expect((await findPeople(async () => [BROKEN], '1')).people).toEqual([
      { person: PERSON, name: null, email: null, account: 'unknown' },
    ]);
  });

  test.each(['', '  ', 'x'.repeat(101), 'a\0', 'a\nb', '\ud800'])(
    'is refused for %j',
    async (text) => {
      await expect(findPeople(async () => people(1), text)).rejects.toThrow('1 to 100 characters');
    },
  );
});
