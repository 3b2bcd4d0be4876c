import { expect, test } from 'vitest';
import { hostProblem } from './hosts.ts';

test.each<[hostname: string, hosts: Parameters<typeof hostProblem>[1], problem: string | null]>([
  ['a.example', {}, null],
  ['a.example', { allowed_hosts: ['b.example', 'a.example'] }, null],
  ['a.example', { allowed_hosts: [] }, 'a.example is not one of allowed_hosts'],
  ['x.a.example', { allowed_hosts: ['a.example'] }, 'x.a.example is not one of allowed_hosts'],
  ['x.y.a.example', { allowed_hosts: ['*.a.example'] }, null],
  ['a.example', { allowed_hosts: ['*.a.example'] }, 'a.example is not one of allowed_hosts'],
  ['xa.example', { allowed_hosts: ['*.a.example'] }, 'xa.example is not one of allowed_hosts'],
  ['x.a.example', { denied_hosts: ['*.a.example'] }, 'x.a.example is one of denied_hosts'],
  ['a.example', { denied_hosts: ['*.a.example', 'b.example'] }, null],
  [
    'a.example',
    { allowed_hosts: ['a.example'], denied_hosts: ['b.example', 'a.example'] },
    'a.example is one of denied_hosts',
  ],
])('a document from %s with the hosts %j has the problem %j', (hostname, hosts, problem) => {
  expect(hostProblem(hostname, hosts)).toBe(problem);
});
