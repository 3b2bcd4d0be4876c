import { expect, test } from 'vitest';
import { scopeGroupShape } from './config.ts';

test.each(['identity', 'read', 'change'])('a scope can be in the group %s', (group) =>
  expect(scopeGroupShape.group.parse(group)).toBe(group),
);

test.each(['write', '', null])('a scope cannot be in the group %j', (group) => {
  const { error } = scopeGroupShape.group.safeParse(group);
  expect(error?.issues).toMatchObject([{ message: 'must be "identity", "read" or "change"' }]);
});
