/**
 * Compares every response that a test fetches from an endpoint of the server with the description
 * of that endpoint (`oauth_server:openapi`). A response that is not described fails the test.
 *
 * Vitest runs this file again for each file that a worker runs, but not what it imports.
 */
import { undescribed } from './description.ts';

/** The current `fetch`. If this file has run before, it already compares responses. */
const { fetch: send } = globalThis;
const isComparing = Symbol.for('portico.comparing');
if (!(isComparing in send)) {
  const comparing: typeof fetch = async (input, init) => {
    const response = await send(input, init);
    const request = input instanceof Request ? input : null;
    const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
    const url = input instanceof Request ? input.url : input.toString();
    const problem = await undescribed(method, url, response);
    if (problem !== null) throw new Error(`The OpenAPI description is incomplete. ${problem}`);
    return response;
  };
  globalThis.fetch = Object.assign(comparing, { [isComparing]: true });
}
