import { expect, test } from 'vitest';
import { browserPaths } from './paths.ts';

test('browsers use the base path, and the home page is below it only if a proxy removes it', () => {
  expect([
    browserPaths({ basePath: '', mountPath: '' }),
    browserPaths({ basePath: '/auth', mountPath: '/auth' }),
    browserPaths({ basePath: '/auth', mountPath: '' }),
  ]).toEqual([
    { authorize: '/oauth/authorize', home: '/' },
    { authorize: '/auth/oauth/authorize', home: '/' },
    { authorize: '/auth/oauth/authorize', home: '/auth/' },
  ]);
});
