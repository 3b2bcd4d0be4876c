import type { DescribedKey, ShownClient } from 'portico';
import { comesFrom, isVerified, quotedPublic } from 'portico/extension';
import { getAuthentication } from '../client-badges.ts';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { AdministrationParts } from '../page.ts';
import { code, facts, list, moment, words } from '../formatting.ts';

/** Returns all data about an application. This is the same data that `oauth:client:show` prints. */
export function details(shown: ShownClient, { scopes, server }: AdministrationParts): Html {
  const { client, keys, secret, scopesNotOffered, refusal } = shown;
  const isDocument = client.registeredBy === 'document';
  const { workload } = client.keys ?? {};
  const until = secret?.previousAcceptedUntil ?? null;
  return facts([
    [isDocument ? 'URL (its id)' : 'Id', code(client.id)],
    ['Gets no access now', refusal === null ? null : words(refusal)],
    ['Origin', isVerified(client) ? null : words(comesFrom(client))],
    ['Registered by', REGISTERED_BY[client.registeredBy]],
    ['Since', moment(client.createdAt)],
    ['Last used', client.usedAt === null ? null : moment(client.usedAt)],
    [
      isDocument ? 'Blocked' : 'Revoked',
      client.revokedAt === null ? null : moment(client.revokedAt),
    ],
    ['Grants', list(client.grants)],
    [
      'Scopes',
      client.scopes.length === 0
        ? 'none'
        : markup`<ul role="list">${client.scopes.map(
            (name) =>
              markup`<li>${code(name)} <span class="soft">${
                scopesNotOffered.includes(name) ? 'no longer offered' : scopes.get(name)?.label
              }</span></li>`,
          )}</ul>`,
    ],
    ['Redirect URIs', list(client.redirectUris)],
    ['Authenticates by', code(getAuthentication(client))],
    ['Secret expires', client.secretExpiresAt === null ? null : moment(client.secretExpiresAt)],
    ['Workload', workload === undefined ? null : code(workload.subject)],
    ['Issuer of its tokens', workload === undefined ? null : code(workload.issuer)],
    ['Keys', getKeys(client.keys?.jwksUri ?? null, keys)],
    [
      'ID tokens signed with',
      client.scopes.includes('openid') ? code(client.idTokenSignedResponseAlg) : null,
    ],
    ['Profile', client.profile],
    ...server.demands.map(
      ({ field, shown: { what, as } }) => [capitalised(what), client[field] ? as : null] as const,
    ),
    ['Previous secret', until === null ? null : markup`is accepted until ${moment(until)}`],
  ]);
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const REGISTERED_BY = {
  operator: 'an operator',
  registration: 'itself; its information is not verified',
  document: 'its document; its information is not verified',
} as const;

/**
 * Returns the list of the client's keys. Treats each key's name as untrusted text, because the
 * client's owner chose it.
 */
function getKeys(jwksUri: string | null, keys: readonly DescribedKey[]): HtmlContent {
  if (jwksUri !== null) return markup`at ${code(jwksUri)}`;
  if (keys.length === 0) return null;
  const names = keys.map(({ kid, kty, alg, thumbprint }) =>
    [...(kid === null ? [] : [quotedPublic(kid)]), alg ?? kty, thumbprint].join(' '),
  );
  return list(names);
}
