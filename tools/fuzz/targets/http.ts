import { connect } from 'node:net';
import { listen } from '../../../packages/kit/src/index.ts';
import { ORIGIN, REDIRECT_URI, startFuzzed } from '../support/application.ts';
import { hold, Violation, type Target } from '../target.ts';

const MARKUP = '"><script>alert(1)</script>';
const TRACE = /\bat .*\(.*:\d+:\d+\)|node_modules|\.[jt]s:\d+|node:internal/;
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const AUTHORIZE = `client_id={client}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&response_type=code&scope=openid+mcp:tools&code_challenge=${CHALLENGE}&code_challenge_method=S256&state=s`;

const request = (line: string, headers: readonly string[] = [], body = '') =>
  [
    `${line} HTTP/1.1`,
    'Host: localhost:8765',
    ...headers,
    ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
    '',
    body,
  ].join('\r\n');
const form = (line: string, body: string, ...headers: string[]) =>
  request(line, ['Content-Type: application/x-www-form-urlencoded', ...headers], body);

/**
 * Removes the words of the request from the response. For example, a 404 repeats the path. A path
 * that looks like code must not be reported as revealed code.
 */
function withoutSent(answer: string, sent: string): string {
  const words = sent.match(/[^\s?&=;,"]+/g) ?? [];
  const paths = words.flatMap((word) => [word, URL.parse(word, ORIGIN)?.pathname ?? word]);
  const long = [...new Set(paths)]
    .filter((word) => TRACE.test(word))
    .toSorted((a, b) => b.length - a.length);
  return long.reduce(
    (rest, word) => rest.replaceAll(JSON.stringify(word).slice(1, -1), ''),
    answer,
  );
}

export const target: Target = {
  about:
    'whole requests as bytes to the server of the kit: targets, base path, Host, Forwarded, X-Forwarded-*, cookies, pages, endpoints',
  longest: 8192,
  slowest: 1000,
  seeds: [
    request('GET /auth/oauth/authorize?' + AUTHORIZE),
    request(
      `GET http://localhost:8765/auth/login?return_to=/auth/x&ui_locales=de+ar&x=${encodeURIComponent(MARKUP)}`,
      ['Accept-Language: fr'],
    ),
    request('GET /auth/oauth/logo/x', [
      'Forwarded: for=192.0.2.60;proto=http;host=evil.example',
      'X-Forwarded-For: ::1, 203.0.113.7:80',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: https',
    ]),
    form('POST /auth/oauth/token', 'grant_type=authorization_code&code=x&client_id={client}'),
    form(
      'POST /auth/oauth/token',
      'grant_type=refresh_token&refresh_token=x',
      'Authorization: Basic Y2xpZW50OnNlY3JldA==',
    ),
    form('POST /auth/oauth/par', AUTHORIZE, 'DPoP: a.b.c'),
    form('POST /auth/oauth/authorize', 'request_id=x&csrf_token=y&decision=allow', 'Origin: null'),
    form(
      'POST /auth/login',
      '_csrf=x&identifier=ada%40example.com&password=x',
      'Sec-Fetch-Site: same-origin',
    ),
    form('POST /auth/oauth/revoke', 'token={token}x&client_id={client}'),
    request('GET /auth/oauth/userinfo', ['Authorization: DPoP {token}', 'DPoP: x']),
    request('GET /auth/oauth/logout?client_id={client}&state=x&id_token_hint=a.b.c'),
    form('POST /auth/oauth/logout', 'request=x&csrf_token=y&decision=logout', 'Origin: null'),
    request('GET /auth/login', ['Cookie: session=%41%20; other="b"; empty=']),
    request(
      'POST /auth/oauth/register',
      ['Content-Type: application/json'],
      '{"redirect_uris":["https://client.example/cb"],"token_endpoint_auth_method":"none"}',
    ),
    request('GET /.well-known/oauth-authorization-server/auth', ['Origin: https://evil.example']),
    request('GET /auth/oauth/../oauth/jwks'),
    request('GET //auth/oauth/jwks'),
    request('OPTIONS *'),
    request('HEAD /auth/health/ready'),
    request('PUT /auth/%2e%2e/oauth/token'),
    request(
      'POST /auth/mcp',
      [
        'Authorization: Bearer {token}',
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
      ],
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ),
    'POST /auth/oauth/token HTTP/1.1\r\nHost: localhost:8765\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n3\r\na=b\r\n0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: [::1\r\n\r\n',
    'GET /auth/login HTTP/1.0\r\n\r\n',
  ],
  dictionary: [
    'GET ',
    'POST ',
    ' HTTP/1.1\r\n',
    '\r\n',
    '\r\n\r\n',
    'Host: ',
    'Content-Length: ',
    'Transfer-Encoding: chunked\r\n',
    'X-Forwarded-For: ',
    'X-Forwarded-Host: ',
    'X-Forwarded-Proto: https\r\n',
    'Forwarded: for="[::1]:80";host=evil.example\r\n',
    'Cookie: ',
    'Authorization: Bearer {token}',
    'Origin: ',
    'Expect: 100-continue\r\n',
    'Content-Encoding: gzip\r\n',
    'Sec-Fetch-Site: same-origin\r\n',
    '/auth/',
    '/oauth/',
    'authorize',
    'token',
    'register',
    'applications',
    'login',
    'logout',
    'userinfo',
    'introspect',
    'revoke',
    'jwks',
    'par',
    'mcp',
    '/.well-known/',
    'openid-configuration',
    'oauth-protected-resource',
    '%2e%2e/',
    '%00',
    '%ff',
    '?',
    '&',
    '=',
    'return_to=',
    '//evil.example',
    '/\\evil.example',
    MARKUP,
    encodeURIComponent(MARKUP),
    'ui_locales=',
    'request_id=',
    '{client}',
    'evil.example',
    'localhost:8765',
    '[::1]',
    '@',
  ],
  async start() {
    const { application, tick, client, token } = await startFuzzed();
    const { port } = await listen(application, { port: 0, hostname: '127.0.0.1' });
    const filled: Readonly<Record<string, string>> = { client, token };

    const exchange = (bytes: Buffer) =>
      new Promise<string>((resolve, reject) => {
        const chunks: Buffer[] = [];
        const socket = connect({ port, host: '127.0.0.1', noDelay: true });
        const late = setTimeout(() => {
          socket.destroy();
          reject(new Violation('the server keeps a connection that its client has ended'));
        }, 60_000);
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('error', () => {});
        socket.on('close', () => {
          clearTimeout(late);
          resolve(Buffer.concat(chunks).toString('latin1'));
        });
        socket.end(bytes);
      });

    return async (input) => {
      tick();
      const text = input
        .toString('latin1')
        .replaceAll(/\{(client|token)\}/g, (_, name: string) => filled[name] ?? '');
      const answer = await exchange(Buffer.from(text, 'latin1'));
      for (const [, status = '', rest = ''] of answer.matchAll(
        /(?:^|\r\n\r\n|[}>])HTTP\/1\.1 (\d{3}) ([\s\S]*?)(?=$|[}>]HTTP\/1\.1 \d{3} )/g,
      )) {
        // These errors are correct too: for another version of HTTP, and for a limit after which
        // the client can try again.
        const isOwn =
          Number(status) < 500 ||
          status === '505' ||
          (status === '503' && /\r\nretry-after: /i.test(rest));
        hold(isOwn, `it was answered ${status}`);
        const [head = '', body = ''] = rest.split('\r\n\r\n', 2);
        hold(!TRACE.test(withoutSent(rest, text)), 'the answer tells of the code');
        if (/^content-type: text\/html/im.test(head))
          hold(!body.includes(MARKUP), 'markup was repeated');
        const location = /^location: (.*)$/im.exec(head)?.[1]?.trim();
        if (location === undefined) continue;
        const at = new URL(location, ORIGIN);
        hold(
          at.origin === ORIGIN || location.startsWith(`${REDIRECT_URI}?`),
          'a browser is led elsewhere',
        );
        hold(!at.searchParams.has('code'), 'a code was issued');
      }
    };
  },
};
