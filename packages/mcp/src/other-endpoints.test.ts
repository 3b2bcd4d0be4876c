import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from './configuration.ts';
import type { McpContext } from './context.ts';
import { answerMisplaced, answerStream } from './other-endpoints.ts';
import { refusal } from './refusal.ts';

const RESOURCE = 'https://shop.example/mcp';
const PAGE = 'https://page.example';

/** An endpoint that no token reaches, and the refusals that it has logged. */
function started(challenge: boolean) {
  const logged: unknown[] = [];
  const context = {
    config: mcpConfiguration.parse({ oauth: { challenge }, allowed_origins: [PAGE] }),
    server: { origin: 'https://shop.example' },
    resource: RESOURCE,
    withToken: (_: Request, answer: () => Promise<Response>) => answer(),
    tokenRefusal: () => refusal(401, 'A token is needed.'),
    logRefusal: (name: string, _: Request, { status }: Response, client: string | null) =>
      void logged.push([name, status, client]),
  } as unknown as McpContext;
  const request = (method: string, headers: Readonly<Record<string, string>>) =>
    new Request(RESOURCE, { method, headers });
  return {
    logged,
    stream: (method: string, headers = {}) => answerStream(context, request(method, headers)),
    misplaced: (method: string, headers = {}) => answerMisplaced(context, request(method, headers)),
  };
}

describe('a method other than POST', () => {
  test.each([
    [true, 'GET', 401],
    [true, 'HEAD', 401],
    [true, 'DELETE', 405],
    [true, 'PUT', 405],
    [false, 'GET', 405],
    [false, 'HEAD', 405],
  ])('is refused (with challenges: %s): %s with %d', async (challenge, method, status) => {
    expect((await started(challenge).stream(method)).status).toBe(status);
  });

  test('is told that only POST is allowed, and logged', async () => {
    const { stream, logged } = started(false);
    const response = await stream('GET', { origin: PAGE });
    expect([response.headers.get('allow'), response.headers.get('vary')]).toEqual([
      'POST',
      'Origin',
    ]);
    expect(logged).toEqual([['mcp_server_stream', 405, null]]);
  });

  test('gets no challenge on a foreign page', async () => {
    const { stream } = started(true);
    expect((await stream('GET', { origin: 'https://evil.example' })).status).toBe(405);
  });
});

describe('a URL with a slash too many', () => {
  test('is answered with the right one, and logged', async () => {
    const { misplaced, logged } = started(false);
    const response = await misplaced('POST', { origin: PAGE });
    expect([response.status, response.headers.get('vary'), await response.json()]).toEqual([
      404,
      'Origin',
      expect.objectContaining({
        error: {
          code: -32_000,
          message: `The MCP endpoint is ${RESOURCE}, without a slash at the end.`,
        },
      }),
    ]);
    expect(logged).toEqual([['mcp_server_misplaced', 404, null]]);
  });

  test('can be sent by a page, which then reads the answer', async () => {
    const { misplaced, logged } = started(false);
    const { status, headers } = await misplaced('OPTIONS', { origin: PAGE });
    expect([status, headers.get('access-control-allow-headers'), logged]).toEqual([
      204,
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
      [],
    ]);
  });
});
