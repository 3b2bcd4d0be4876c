import { describe, expect, test } from 'vitest';
import { documentPreflight, isForeign, preflightResponse, withCors } from './origins.ts';

const OWN = 'https://shop.example';
const PAGE = 'https://inspector.example';
const ALLOWED = ['https://other.example', PAGE];

const request = (headers: Readonly<Record<string, string>> = {}) =>
  new Request(`${OWN}/mcp`, { method: 'OPTIONS', headers });
const fieldsOf = ({ headers }: Response) => Object.fromEntries(headers);

test('a page of another origin is foreign, unless its origin is allowed', () => {
  const from = (headers: Readonly<Record<string, string>>) =>
    isForeign(request(headers), OWN, ALLOWED);
  expect(from({})).toBe(false);
  for (const origin of [OWN, PAGE]) expect(from({ origin })).toBe(false);
  for (const origin of ['https://evil.example', 'null', 'http://shop.example', `${OWN}:8443`])
    expect(from({ origin })).toBe(true);
});

describe('a response', () => {
  const READ = 'MCP-Protocol-Version, Retry-After, X-Request-Id';

  test.each([
    [{}, READ],
    [{ 'WWW-Authenticate': 'Bearer' }, `${READ}, WWW-Authenticate`],
    [{ 'DPoP-Nonce': 'n' }, `${READ}, WWW-Authenticate, DPoP-Nonce`],
    [{ 'DPoP-Nonce': 'n', 'WWW-Authenticate': 'DPoP' }, `${READ}, WWW-Authenticate, DPoP-Nonce`],
  ])('with the headers %j can be read by a page of an allowed origin', (headers, exposed) => {
    const response = new Response(null, { headers });
    expect(withCors(response, request({ origin: PAGE }), ALLOWED)).toBe(response);
    expect(fieldsOf(response)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    });
  });

  test('keeps its own Vary', () => {
    const response = new Response(null, { headers: { Vary: 'Accept' } });
    withCors(response, request({ origin: PAGE }), ALLOWED);
    expect(response.headers.get('vary')).toBe('Accept, Origin');
  });

  test.each([{}, { origin: OWN }, { origin: 'https://evil.example' }])(
    'to %j has no CORS headers',
    (headers) => {
      expect(fieldsOf(withCors(new Response(null), request(headers), ALLOWED))).toEqual({});
    },
  );
});

describe('a preflight response', () => {
  const SENT = 'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

  test('names what a page of an allowed origin may send', () => {
    const response = preflightResponse(request({ origin: PAGE }), ALLOWED, ['DPoP', 'Mcp-Size']);
    expect(response.status).toBe(204);
    expect(fieldsOf(response)).toEqual({
      'access-control-allow-headers': `${SENT}, DPoP, Mcp-Size`,
      'access-control-allow-methods': 'POST, GET, DELETE',
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': 'MCP-Protocol-Version, Retry-After, X-Request-Id',
      'access-control-max-age': '7200',
      vary: 'Access-Control-Request-Headers, Origin',
    });
  });

  test('allows the headers that the page wants to send', () => {
    const wanted = { origin: PAGE, 'access-control-request-headers': 'x-trace' };
    const response = preflightResponse(request(wanted), ALLOWED, []);
    expect(response.headers.get('access-control-allow-headers')).toBe(`${SENT}, x-trace`);
  });

  test('is empty for every other page', () => {
    for (const headers of [{}, { origin: OWN }]) {
      const response = preflightResponse(request(headers), ALLOWED, []);
      expect([response.status, fieldsOf(response)]).toEqual([204, {}]);
    }
  });

  test('lets every page read a public document', () => {
    const response = documentPreflight(request({ origin: 'https://evil.example' }));
    expect(response.status).toBe(204);
    expect(fieldsOf(response)).toMatchObject({
      'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
      'access-control-allow-methods': 'GET',
      'access-control-allow-origin': '*',
      'access-control-max-age': '7200',
    });
  });
});
