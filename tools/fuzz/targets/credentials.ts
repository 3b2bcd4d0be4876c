import { createHash } from 'node:crypto';
import {
  readAuthorization,
  isBearerRequest,
  parseBearer,
  parseScheme,
} from '../../../packages/portico/src/http/bearer.ts';
import { readCredentials } from '../../../packages/portico/src/clients/credentials.ts';
import {
  assertionReader,
  JWT_ASSERTION,
} from '../../../packages/portico/src/clients/reading-assertions.ts';
import { OAuthError } from '../../../packages/portico/src/errors.ts';
import { verifiesChallenge } from '../../../packages/portico/src/grants/pkce.ts';
import { createParameters } from '../../../packages/portico/src/parameters.ts';
import {
  quoted,
  quotedClientId,
  quotedList,
  quotedUri,
} from '../../../packages/portico/src/quoting.ts';
import { hold, unless, type Target } from '../target.ts';

const refuses = (error: unknown) => error instanceof OAuthError;
const ADDRESS = 'https://app.example/oauth/token';
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/**
 * A second implementation of RFC 6750 section 2.1 and RFC 9110 section 11.4. Returns null for
 * another scheme.
 */
function schemeOf(header: string, scheme: string): { readonly token: string | null } | null {
  const text = header.trim();
  const [name = ''] = text.split(/\s/, 1);
  if (name.toLowerCase() !== scheme) return null;
  const rest = text.slice(name.length);
  const token = rest.replace(/^ +/, '');
  const isToken = rest !== token && /^[A-Za-z0-9\-._~+/]+=*$/.test(token);
  return { token: isToken ? token : null };
}

/** The input has two lines: the header, and the body of the form. */
export const target: Target = {
  about:
    'Authorization (Basic, Bearer, DPoP), credentials in a form, code verifiers, and how the log quotes what was sent',
  seeds: [
    `${basic('client', 'secret')}\ngrant_type=x`,
    `${basic('a%3Ab', '%2B+%F0%9F%98%80')}\nclient_id=a%3Ab`,
    'Bearer abc.def~+/==\n',
    'DPoP abc\nclient_id=a&client_secret=b',
    `bEaReR   ${'A'.repeat(43)}\nclient_assertion=a.b.c&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer`,
    `Basic\nclient_id=${'0123456789abcdef'.repeat(2)}`,
  ],
  dictionary: [
    'Basic ',
    'Bearer ',
    'DPoP ',
    'bearer',
    ':',
    '=',
    '==',
    '%',
    '%zz',
    '%00',
    '+',
    ', ',
    '\t',
    'client_id=',
    '&client_secret=',
    '&client_assertion=',
    '&client_assertion_type=',
    'OmE=',
    'YTo=',
    'YQ==',
  ],
  start: () => (input) => {
    const [header = '', body = ''] = input.toString('latin1').split('\n', 2);
    let request: Request;
    try {
      request = new Request(ADDRESS, { method: 'POST', headers: { Authorization: header } });
    } catch {
      // A server never receives such a header.
      return;
    }
    const sent = request.headers.get('authorization') ?? '';
    for (const [scheme, parse] of [
      ['bearer', parseBearer],
      ['dpop', (sent: string | null) => parseScheme('DPoP', sent)],
    ] as const) {
      const parsed = parse(sent);
      hold(
        JSON.stringify(parsed) === JSON.stringify(schemeOf(sent, scheme)),
        'the scheme or its token is read in another way',
      );
    }
    hold(
      isBearerRequest(request, ['DPoP']) ===
        (schemeOf(sent, 'bearer') !== null || schemeOf(sent, 'dpop') !== null),
      'who has no session is told in another way',
    );
    const both = readAuthorization({
      headers: { authorization: sent },
      rawHeaders: ['Authorization', sent, 'authorization', 'Bearer a'],
    });
    hold(
      (parseBearer(both)?.token ?? null) === null &&
        (parseScheme('DPoP', both)?.token ?? null) === null,
      'one of two credentials was taken',
    );

    const sentForm = new URLSearchParams(body);
    const form = createParameters(sentForm);
    for (const takesAssertions of [false, true]) {
      const credentials = unless(refuses, () =>
        readCredentials(request, form, takesAssertions ? assertionReader([JWT_ASSERTION]) : null),
      );
      if (credentials?.method !== 'client_secret_basic') continue;
      const { clientId, secret } = credentials;
      hold(clientId !== '' && !form.has('client_secret'), 'credentials in two places were taken');
      if (
        !clientId.isWellFormed() ||
        !secret.isWellFormed() ||
        `${clientId}${secret}`.includes('\u{FFFD}')
      )
        continue;
      const encoded = basic(encodeURIComponent(clientId), encodeURIComponent(secret));
      const again = readCredentials(
        new Request(ADDRESS, { headers: { Authorization: encoded } }),
        createParameters(new URLSearchParams()),
        null,
      );
      hold(
        'secret' in again && again.clientId === clientId && again.secret === secret,
        'what is encoded again is read as something else',
      );
    }

    const verifier = sentForm.get('client_secret') ?? body;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    hold(
      verifiesChallenge(verifier, challenge) === /^[A-Za-z0-9._~-]{43,128}$/.test(verifier),
      'a verifier that is none was taken',
    );
    for (const line of [
      quoted(body),
      quotedUri(body),
      quotedClientId(body),
      quotedList(body.split('&')),
    ]) {
      hold(!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line), 'a line of the log has what breaks it');
      hold(line.length < 30_000, 'a line of the log is long');
    }
    hold(!/[A-Za-z0-9_-]{43}/.test(quoted(body)), 'what may be a secret is quoted');
  },
};
