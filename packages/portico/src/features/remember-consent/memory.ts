import type { AskedConsent, ConsentMemory } from '../../authorization/consent-memory.ts';
import { promptValues } from '../../authorization/request-parameters.ts';
import { isLoopback } from '../../http/loopback.ts';
import { JwsError, parseJws } from '../../keys/jws/compact.ts';
import { samePerson } from '../../person.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { consentOf } from '../../store/remembered-consent.ts';
import { MARKED } from '../../further-metadata/further-metadata.ts';

/** The client's mark. */
export const FIRST_PARTY = 'first_party';

/** Finds what people have allowed first-party clients on the consent page, and still allow. */
export class FirstPartyMemory implements ConsentMemory {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Whether an operator registered and marked the client, and all of its redirect URIs are web
   * sites. Another program on a device could take any other redirect URI (RFC 8252 section 8.6).
   */
  async remembers({ id, registeredBy, applicationType, redirectUris }: Client): Promise<boolean> {
    if (registeredBy !== 'operator' || applicationType !== 'web') return false;
    if (redirectUris.length === 0 || !redirectUris.every(isWebSite)) return false;
    const { [FIRST_PARTY]: mark = [] } = await this.#server.furtherMetadata.find(id);
    return mark.includes(MARKED);
  }

  async find({ asked, client, person, scopes }: AskedConsent): Promise<string | null> {
    const { store, clock } = this.#server;
    if (promptValues(asked.further?.['prompt']).has('consent')) return null;
    if (!client.redirectUris.includes(asked.redirectUri)) return null;
    if (!(await this.remembers(client))) return null;
    const hint = asked.further?.['id_token_hint'];
    const living = await store.authorizations.listAuthorizations(person, clock());
    const found = living.findLast(({ family, redeemed }) => {
      const consent = consentOf(family.details);
      return (
        consent !== null &&
        // Before that, the code may have reached the wrong application.
        redeemed &&
        family.clientId === client.id &&
        samePerson(family.person, person) &&
        (hint === undefined || subjectOf(hint) === family.subject) &&
        family.audience === asked.audience &&
        scopes.every((name) => family.scopes.includes(name)) &&
        // The page would say that the access continues.
        (consent.renews || !client.grants.includes('refresh_token'))
      );
    });
    return found?.family.id ?? null;
  }
}

/**
 * Returns the `sub` of an ID token, or null. Does not verify the token: a hint can only lead to the
 * question (OpenID Connect Core section 3.1.2.1).
 */
function subjectOf(idToken: string): unknown {
  try {
    return parseJws(idToken).payload['sub'];
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}

function isWebSite(redirectUri: string): boolean {
  const url = new URL(redirectUri);
  return url.protocol === 'https:' && !isLoopback(url);
}
