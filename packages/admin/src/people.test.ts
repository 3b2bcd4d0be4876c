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

describe("the application's names for people", () => {
  // @shows AS-33.11
  test.each([
    ['markup', { name: '<b onclick="x">', email: '"><script>' }],
    ['what turns text around', { name: 'a\u202eb\u2066c', email: 'd\u200be' }],
    ['control characters', { name: 'a\u0007b\u2028c' }],
    ['no texts', { name: { text: 'x' }, email: ['a'] }],
    ['nothing', { name: '  ', email: undefined }],
  ])('are plain text: %s', async (_, profile) => {
    const who = await known(account(profile));
    const { html } = personRow(pageLinks(''), PERSON, who);
    expect(html).not.toMatch(/<b |<script|onclick="|[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
    expect(html).toContain('users');
  });

  // @shows AS-33.11
  test('are cut at a hundred characters', async () => {
    const { name, email } = await known(
      account({ name: '\u{1F600}'.repeat(500), email: 'x'.repeat(500) }),
    );
    expect([Array.from(name ?? '').length, (email ?? '').length]).toEqual([100, 100]);
  });

  test('come with whether the account exists and may sign in; an error of the host does not break the page', async () => {
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

describe("the application's data about people", () => {
  // @shows AS-33.11
  test('is shown beside the person it is about, in each provider', async () => {
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
  test('has no name that is no text or is blank', async () => {
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

describe('a search', () => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...account({ name: 'Ada' }),
      reference: { provider: 'users', id: String(index) },
    }));

  // @shows AS-33.11
  test('shows twenty people, each once, however many the host returns', async () => {
    const found = await findPeople(async () => [...people(3), ...people(500)], 'ada');
    expect([found.people.length, found.more]).toEqual([17, true]);
    expect(await findPeople(async () => people(MOST_FOUND), 'ada')).toMatchObject({ more: false });
    expect((await findPeople(async () => 'rows' as never, 'ada')).people).toEqual([]);
  });

  test('asks the host for one more person than the page shows, by up to a hundred characters', async () => {
    const asked: unknown[] = [];
    const text = '\u{1F600}'.repeat(100);
    await findPeople(async (...wanted) => (asked.push(wanted), []), ` ${text} `);
    expect(asked).toEqual([[text, 21]]);
  });

  // @shows AS-33.11
  test('shows a person whom the host cannot describe by the id', async () => {
    expect((await findPeople(async () => [BROKEN], '1')).people).toEqual([
      { person: PERSON, name: null, email: null, account: 'unknown' },
    ]);
  });

  test.each(['', '  ', 'x'.repeat(101), 'a\0', 'a\nb', '\ud800'])(
    'by %j is refused',
    async (text) => {
      await expect(findPeople(async () => people(1), text)).rejects.toThrow('1 to 100 characters');
    },
  );
});
