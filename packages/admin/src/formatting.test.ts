import { describe, expect, test } from 'vitest';
import {
  aboutPerson,
  alert,
  calledBy,
  clientName,
  code,
  facts,
  list,
  moment,
  notice,
  personRow,
} from './formatting.ts';
import { pageLinks, withQuery } from './links.ts';
import type { Asked } from './page.ts';

const PERSON = { provider: 'staff', id: '7' };
const ID = '<span class="soft"><code><bdi>7</bdi></code> <span class="soft">(<bdi>staff</bdi>)';
const MAIL = '<span class="mail"><bdi>ada@staff.example</bdi></span> ';
/** What a page shows of a person: the words of the link, and what follows it. */
const shown = (
  name: string | null,
  email: string | null,
  account: 'active' | 'suspended' | 'gone' | 'unknown' = 'active',
) => {
  const known = { name, email, account };
  const [called, about] = [calledBy(PERSON, known).html, aboutPerson(PERSON, known).html];
  expect(personRow(pageLinks('/base'), PERSON, known).html).toBe(
    `<p class="person"><a href="/base/oauth/admin/person?provider=staff&amp;id=7">${called}</a> ${about}</p>`,
  );
  return [called, about.replace(/(<\/span>)+$/, '')];
};

describe('a person on a page', () => {
  // @shows AS-33.11
  test('is called by the name, or else the address, or else the id, and the rest follows', () => {
    expect(shown('Ada', 'ada@staff.example')).toEqual(['<bdi>Ada</bdi>', `${MAIL}${ID}`]);
    expect(shown('Ada', null)).toEqual(['<bdi>Ada</bdi>', ID]);
    expect(shown(null, 'ada@staff.example')).toEqual(['<bdi>ada@staff.example</bdi>', ID]);
    expect(shown(null, null)).toEqual([
      '<code><bdi>7</bdi></code>',
      '<span class="soft"><span class="soft">(<bdi>staff</bdi>)',
    ]);
  });

  test('has a badge if the account is suspended or does not exist', () => {
    const badgeOf = (account: Parameters<typeof shown>[2]) =>
      /<span class="badge">(.*)/.exec(shown('Ada', null, account).join(''))?.[1];
    expect(badgeOf('active')).toBeUndefined();
    expect(badgeOf('unknown')).toBeUndefined();
    expect(badgeOf('suspended')).toBe('suspended');
    expect(badgeOf('gone')).toBe('no account');
  });
});

describe('a value on a page', () => {
  // @shows AS-33.6
  test('shows each invisible character of an id as an escape', () => {
    expect(code('a\u200b\u202e\u2028<b>\u{e0001}\0').html).toBe(
      String.raw`<code><bdi>a\u{200b}\u{202e}\u{2028}&lt;b&gt;\u{e0001}\u{0}</bdi></code>`,
    );
  });

  // @shows AS-33.6
  test('has quotation marks if it is a name that an application gave itself', () => {
    const named = (registeredBy: 'operator' | 'document' | 'registration') =>
      clientName({ id: '1', name: 'Shop', registeredBy }).html;
    expect(named('operator')).toBe('<bdi>Shop</bdi>');
    for (const by of ['document', 'registration'] as const)
      expect(named(by)).toBe('<bdi>&quot;Shop&quot;</bdi>');
  });

  test('is a time in UTC, to the minute', () => {
    expect(moment(Date.UTC(2026, 0, 31, 9, 5, 59)).html).toBe(
      '<time datetime="2026-01-31T09:05:59.000Z">2026-01-31 09:05 UTC</time>',
    );
  });

  test('is a list of codes, or the word none', () => {
    expect(list(['a', '<b>'])).toMatchObject({
      html: '<ul role="list"><li><code><bdi>a</bdi></code></li><li><code><bdi>&lt;b&gt;</bdi></code></li></ul>',
    });
    expect(list([])).toBe('none');
  });

  test('is left out of a list of names and values if it is null, undefined or false', () => {
    const entries = [
      ['one', 'text'],
      ['two', null],
      ['three', undefined],
      ['four', false],
      ['five', ''],
      ['six', 0],
    ] as const;
    expect(facts(entries).html).toBe(
      '<dl class="facts"><dt>one</dt><dd>text</dd><dt>five</dt><dd></dd><dt>six</dt><dd>0</dd></dl>',
    );
  });
});

describe('a message on a page', () => {
  // @shows AS-33.4
  test('gives the reason of a refusal, and says that nothing changed if a form was refused', () => {
    const message = (text: string) =>
      `<p class="alert" role="alert"><bdi>&lt;b&gt;</bdi>.${text}</p>`;
    expect(alert({ reason: '<b>' }).html).toBe(message(''));
    expect(alert({ reason: '<b>', form: {} }).html).toBe(message(' Nothing was changed.'));
    expect(alert(undefined).html).toBe('');
  });

  // @shows AS-33.9
  test('is a result only if the page knows the name of the action', () => {
    const told = (done: string) => notice({ done } as Asked, { saved: 'Saved.' });
    expect(told('saved')).toMatchObject({ html: '<p class="notice" role="status">Saved.</p>' });
    for (const done of ['', 'erased', 'constructor']) expect(told(done)).toBeNull();
  });
});

test('a link has no parameter with an empty value, and no question mark without parameters', () => {
  expect(withQuery('/list', { a: '', b: '1 & 2', c: '' })).toBe('/list?b=1+%26+2');
  expect(withQuery('/list', { a: '' })).toBe('/list');
  const links = pageLinks('/base');
  expect([
    links.client('https://a.example/?b&c', { ask: 'revoke' }),
    links.person('staff', '7'),
  ]).toEqual([
    '/base/oauth/admin/client?id=https%3A%2F%2Fa.example%2F%3Fb%26c&ask=revoke',
    '/base/oauth/admin/person?provider=staff&id=7',
  ]);
});
