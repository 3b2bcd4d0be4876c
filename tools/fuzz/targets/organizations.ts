import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { jwtVerify, type JWTPayload } from 'jose';
import { TrustedIssuers } from '../../../packages/portico/src/keys/assertions/trusted-issuers.ts';
import { readKeySet } from '../../../packages/portico/src/clients/key-sets.ts';
import { OAuthError } from '../../../packages/portico/src/errors.ts';
import {
  requireBoundKey,
  requireSupported,
  resourceOf,
  scopesOf,
} from '../../../packages/portico/src/features/jwt-bearer/rights.ts';
import { JwsError } from '../../../packages/portico/src/keys/jws/compact.ts';
import type { SingleUses } from '../../../packages/portico/src/store/single-uses.ts';
import { createKeys, importVerifiers, jwsOf, type SigningKeys } from '../support/keys.ts';
import { scratch } from '../support/scratch.ts';
import { hold, unlessAsync, type Target } from '../target.ts';

/** The key of each algorithm that an issuer may use. */
const KEYS: Readonly<Record<string, string>> = { ES256: 'ec', RS256: 'rsa', EdDSA: 'ed' };
const NOW = 1_800_000_000;
const ISSUER = 'https://app.example';
const IDP = 'https://idp.example';
const TENANTS = 'https://tenants.example';
const TYPE = 'oauth-id-jag+jwt';
const API = 'https://app.example/api';

const WORDS =
  'alg typ kid crit jwk jku x5c oauth-id-jag+jwt JWT none HS256 ES256 RS256 PS256 EdDSA Ed25519 ' +
  'iss sub aud exp iat nbf jti client_id scope resource tenant acme cnf jkt act aud_tenant ' +
  'authorization_details asked openid offline_access ec rsa ed ps |= |. other __proto__ ' +
  `${ISSUER} ${IDP} ${TENANTS} ${API} ${NOW}`;

/** What a request asks for in addition to its assertion. Here, this is a member of the payload. */
interface Asked {
  readonly scope?: string;
  readonly resource?: string;
  readonly jkt?: string;
}

const seed = (header: object, payload: object, key: string) =>
  `${JSON.stringify({ typ: TYPE, ...header })}\n${JSON.stringify({ iss: IDP, sub: 'U1', aud: ISSUER, client_id: 'a-client', jti: 'a', iat: NOW, exp: NOW + 60, ...payload })}\n${key}`;

/** What the claims of an assertion allow. */
interface Rights {
  readonly asked: Asked;
  readonly scopes: readonly string[] | null;
  readonly resource: string | undefined;
}

export const target: Target = {
  about: 'assertions of organizations about people (ID-JAG), and what they grant',
  seeds: [
    seed({ alg: 'ES256', kid: 'ec' }, { scope: 'notes:read notes:write' }, 'ec'),
    seed({ alg: 'ES256' }, { scope: 'a b', asked: { scope: 'b c' } }, 'ec'),
    seed({ alg: 'RS256' }, { aud: [ISSUER], resource: API, asked: { resource: API } }, 'rsa'),
    seed({ alg: 'ES256' }, { resource: [API, `${API}/2`], asked: { resource: API } }, 'ec'),
    seed({ alg: 'EdDSA' }, { iss: TENANTS, tenant: 'acme', nbf: NOW }, 'ed'),
    seed({ alg: 'ES256' }, { cnf: { jkt: 'k' }, asked: { jkt: 'k' } }, 'ec'),
    seed({ alg: 'ES256' }, { act: { sub: 'robot' } }, 'ec'),
    seed({ alg: 'none' }, {}, ''),
    seed({ alg: 'ES256', jwk: '{ec}' }, {}, 'ec'),
    'a.b.c',
  ],
  dictionary: WORDS.split(' '),
  async start() {
    const keys = createKeys();
    const used = new Set<string>();
    const issuers = trustedIssuers(keys, used);
    const verifiers = await importVerifiers(keys);
    const expected = { type: TYPE, audience: ISSUER };

    return async (input) => {
      const text = jwsOf(input, keys);
      used.clear();
      const found = await unlessAsync(isRefusal, async () => {
        const assertion = await issuers.verify(text, expected);
        const { claims } = assertion;
        const asked: Asked = Object(claims['asked']) as object;
        requireSupported(claims);
        requireBoundKey(claims, textOr(asked.jkt) ?? null);
        const resource = resourceOf(claims, textOr(asked.resource));
        const scopes = scopesOf(claims, textOr(asked.scope));
        return { assertion, rights: { asked, scopes, resource } };
      });
      if (found === null) return;
      const { assertion, rights } = found;
      const { issuer } = assertion;
      const key = verifiers.get(KEYS[assertion.algorithm] ?? '');
      hold(key !== undefined, 'another algorithm was taken');
      const { payload } = await jwtVerify(text, key, {
        issuer: issuer === TENANTS ? TENANTS : IDP,
        audience: ISSUER,
        typ: TYPE,
        algorithms: issuer === TENANTS ? ['EdDSA'] : ['ES256', 'RS256'],
        clockTolerance: 30,
        maxTokenAge: 300,
        currentDate: new Date(NOW * 1000),
        requiredClaims: ['sub', 'jti', 'iat', 'exp'],
      });
      hold(payload.sub === assertion.subject, 'another subject was read');
      hold([payload.aud].flat().length === 1, 'it is for another server as well');
      hold(Number(payload.exp) <= Number(payload.iat) + 86_400, 'it is good for too long');
      hold(payload['tenant'] === (issuer === TENANTS ? 'acme' : undefined), 'a foreign tenant');
      holdRights(payload, rights);
      hold(await assertion.claim(), 'it could not be used');
      hold(!(await (await issuers.verify(text, expected)).claim()), 'it was taken twice');
    };
  },
};

/**
 * Returns two issuers, one of them with a tenant. `used` contains the assertions that were used
 * before.
 */
function trustedIssuers(keys: SigningKeys, used: Set<string>): TrustedIssuers {
  const placed = (name: string, kids: readonly string[]) => {
    const file = path.join(scratch(), name);
    const jwks = kids.map((kid) => ({ ...keys.jwks[kid], kid }));
    writeFileSync(file, JSON.stringify({ keys: jwks }));
    return { file };
  };
  const singleUses = {
    async claim(_: string, of: unknown) {
      const size = used.size;
      return used.add(JSON.stringify(of)).size > size;
    },
  } as unknown as SingleUses;
  const settings = { asserts: ['people'], clockTolerance: 30, maximumAge: 300 } as const;
  const idp = {
    ...settings,
    issuer: IDP,
    keys: placed('idp.json', ['ec', 'rsa']),
    algorithms: ['ES256', 'RS256'],
    tenant: null,
  } as const;
  const tenants = {
    ...settings,
    issuer: TENANTS,
    keys: placed('tenants.json', ['ed']),
    algorithms: ['EdDSA'],
    tenant: 'acme',
  } as const;
  const fetching = { clock: () => NOW * 1000 } as never;
  return new TrustedIssuers([idp, tenants], fetching, (value) => readKeySet(value), singleUses);
}

function isRefusal(error: unknown): boolean {
  return error instanceof JwsError || error instanceof OAuthError;
}

/** A parameter of a request is a text. */
function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Checks that the granted rights are those that both the assertion and the request allow. */
function holdRights(payload: JWTPayload, { asked, scopes, resource }: Rights): void {
  for (const name of ['act', 'aud_tenant', 'authorization_details'])
    hold(!Object.hasOwn(payload, name), `${name} was ignored`);
  const named = payload['resource'] === undefined ? [] : [payload['resource']].flat();
  const isNamed = named.some((each) => each === resource);
  hold(named.length === 0 ? resource === undefined : isNamed, 'another resource');
  hold(textOr(asked.resource) === undefined || asked.resource === resource, 'not the one asked');
  const wordsOf = (text: unknown) => (typeof text === 'string' ? text.split(' ') : null);
  for (const allowed of [wordsOf(payload['scope']), wordsOf(asked.scope)])
    hold(
      allowed === null || (scopes ?? []).every((each) => allowed.includes(each)),
      'more scopes than both say',
    );
  hold(!(scopes ?? []).includes('openid'), 'an ID token was granted');
  const bound = payload['cnf'] as { readonly jkt?: unknown } | undefined;
  hold(bound === undefined || bound.jkt === asked.jkt, 'it was taken without its key');
}
