import { expect, test } from 'vitest';
import { honoGuard } from './guards.ts';
import type { ResourceServer } from './server.ts';

const EXPOSED = 'Access-Control-Expose-Headers';

test.each([
  [{}, 'X-Own'],
  [{ [EXPOSED]: 'WWW-Authenticate' }, 'X-Own, WWW-Authenticate'],
])(
  'a refusal with %j adds to the headers that the application exposes: %s',
  async (headers, all) => {
    const refused = new Response(null, { status: 401, headers });
    const resource = { authorize: async () => refused } as unknown as ResourceServer;
    const res = new Response(null, { headers: { [EXPOSED]: 'X-Own' } });
    const req = { header: () => undefined, raw: new Request('https://api.example/') } as const;
    const next = () => Promise.reject(new Error('The request was refused'));
    expect(await honoGuard(resource, 'orders:read')({ req, res }, next)).toBe(refused);
    expect(res.headers.get(EXPOSED)).toBe(all);
  },
);
