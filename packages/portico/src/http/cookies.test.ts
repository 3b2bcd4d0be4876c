import { expect, test } from 'vitest';
import { sentCookies } from './cookies.ts';

const sent = (cookie: string) =>
  sentCookies(new Request('https://host.example', { headers: { cookie } }));

test('cookies keep their order, even two with one name, without surrounding spaces', () => {
  expect(sent('a=1; b=2;\tb=3 ; c')).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['b', '3'],
    ['c', ''],
  ]);
  expect(sentCookies(new Request('https://host.example'))).toEqual([['', '']]);
});

test.each(['\u00A0', '\u0085', '\u000B', '\u000C', 'â\u0080\u0080'])(
  'a cookie name with %j before its prefix is not treated as the name with the prefix',
  (space) => {
    const [, [name] = ['']] = sent(`a=1; ${space}__Host-session=planted`);
    expect(name).toBe(`${space}__Host-session`);
  },
);

test('spaces and tabs in a cookie name or value are kept', () => {
  expect(sent('a b=c \t d ;\t e')).toEqual([
    ['a b', 'c \t d'],
    ['e', ''],
  ]);
});
