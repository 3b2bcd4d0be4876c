// @engines sqlite: the database makes no difference
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { MOUNTS } from './support/mounts.ts';

/** Frameworks whose hosts leave the address to Portico. */
const FRAMEWORKS = /express|fastify|Hono|koa/;

/** Registers a client from an address of this machine. Returns the status. */
function register(url: string, from: string): Promise<number> {
  const body = JSON.stringify({ redirect_uris: ['https://client.example/callback'] });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const to = new URL('/oauth/register', url.replace('localhost', '127.0.0.1'));
  return new Promise((resolve, reject) => {
    request(to, { localAddress: from, method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(body);
  });
}

// @shows AS-22.6
test.each(MOUNTS.filter(({ name }) => FRAMEWORKS.test(name)))(
  'counts each address separately in an application on Node: $name',
  async (mount) => {
    const running = await mount.start({
      oauth_server: { registration: 'open', registrations_per_hour: 1 },
    });
    const sent = ['127.0.0.2', '127.0.0.2', '127.0.0.3'];
    const statuses: number[] = [];
    for (const from of sent) statuses.push(await register(running.url, from));
    await running.close();
    expect(statuses).toEqual([201, 429, 201]);
  },
);
