// @engines sqlite: the database makes no difference
import { describe, expect, test } from 'vitest';
import { matchesSubject, subjectProblem, trustDomainOf } from './workloads.ts';

const CLUSTER = 'https://kubernetes.default.svc';
const DOMAIN = 'spiffe://example.org';

describe('the subject of a workload', () => {
  // @shows AS-54.3
  test.each([
    ['system:serviceaccount:prod:reports', 'system:serviceaccount:prod:reports'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:reports'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:a.b-c_d'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/reports'],
    ['spiffe://example.org/*', 'spiffe://example.org/reports'],
    ['repo:octo/app:ref:refs/heads/*', 'repo:octo/app:ref:refs/heads/main'],
  ])('%s matches %s', (pattern, subject) => {
    expect(matchesSubject(pattern, subject)).toBe(true);
  });

  // @shows AS-54.3
  test.each([
    ['system:serviceaccount:prod:reports', 'system:serviceaccount:prod:reports2'],
    ['system:serviceaccount:prod:reports', 'system:serviceaccount:prod:report'],
    ['system:serviceaccount:prod:reports', 'System:serviceaccount:prod:reports'],
    ['system:serviceaccount:prod:reports', ' system:serviceaccount:prod:reports'],
    ['system:serviceaccount:prod:reports', 'system:serviceaccount:prod:reports\n'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod-evil:reports'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:a:b'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:a/b'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:a b'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:a\n'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:*'],
    ['system:serviceaccount:prod:*', 'system:serviceaccount:prod:é'],
    ['system:serviceaccount:prod:*', 'x-system:serviceaccount:prod:a'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/a/b'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/..'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/.'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/%2e%2e'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org/ns/prod/sa/a?b'],
    ['spiffe://example.org/ns/prod/sa/*', 'spiffe://example.org.evil/ns/prod/sa/a'],
  ])('%s does not match %j', (pattern, subject) => {
    expect(matchesSubject(pattern, subject)).toBe(false);
  });

  // @shows AS-54.3
  test.each([
    [CLUSTER, 'system:serviceaccount:prod:reports'],
    [CLUSTER, 'system:serviceaccount:prod:*'],
    [CLUSTER, 'spiffe://example.org/ns/prod/sa/*'],
    [DOMAIN, 'spiffe://example.org/ns/prod/sa/*'],
    [DOMAIN, 'spiffe://example.org/*'],
  ])('of %s can be %j', (issuer, pattern) => {
    expect(subjectProblem(issuer, pattern)).toBeNull();
  });

  // @shows AS-54.3
  test.each([
    [CLUSTER, '', /1 to 255 visible/],
    [CLUSTER, 'a b', /1 to 255 visible/],
    [CLUSTER, 'é', /1 to 255 visible/],
    [CLUSTER, 'a\0', /1 to 255 visible/],
    [CLUSTER, 'a'.repeat(256), /1 to 255 visible/],
    [CLUSTER, '*', /only one \*/],
    [CLUSTER, 'system:serviceaccount:prod-*', /only one \*/],
    [CLUSTER, 'system:serviceaccount:*:reports', /only one \*/],
    [CLUSTER, 'system:serviceaccount:*:*', /only one \*/],
    [CLUSTER, 'system:serviceaccount:prod:**', /only one \*/],
    [CLUSTER, 'system:serviceaccount:prod:*a', /only one \*/],
    [DOMAIN, 'system:serviceaccount:prod:reports', /a SPIFFE ID below spiffe:\/\/example.org\//],
    [DOMAIN, 'spiffe://example.org', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.org/', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://*/reports', /only one \*/],
    [DOMAIN, 'spiffe://*', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.com/reports', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.org.evil/reports', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.org/a//b', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.org/a/../b', /a SPIFFE ID below/],
    [DOMAIN, 'spiffe://example.org/a:*', /a SPIFFE ID below/],
    [DOMAIN, 'SPIFFE://example.org/a', /a SPIFFE ID below/],
  ])('of %s cannot be %j', (issuer, pattern, problem) => {
    expect(subjectProblem(issuer, pattern)).toMatch(problem);
  });

  // @shows AS-54.2
  test.each([
    ['spiffe://example.org/reports', 'spiffe://example.org'],
    ['spiffe://a_b.c-1/x/Y/z.', 'spiffe://a_b.c-1'],
    ['spiffe://example.org', null],
    ['spiffe://example.org/', null],
    ['spiffe://example.org/a/', null],
    ['spiffe://Example.org/a', null],
    ['spiffe://example.org:443/a', null],
    ['spiffe://user@example.org/a', null],
    ['spiffe://example.org/a?b', null],
    ['spiffe://example.org/a#b', null],
    ['spiffe://example.org/a%20b', null],
    ['spiffe://example.org/./a', null],
    ['spiffe://example.org/a/..', null],
    ['spiffe:///a', null],
    ['https://example.org/a', null],
    [['spiffe://example.org/a'], null],
    [undefined, null],
  ])('the trust domain of %j is %j', (subject, domain) => {
    expect(trustDomainOf(subject)).toBe(domain);
  });
});
