import type { SqlConnection } from '@portico/sql';
import type { AllowedAuthorization } from '../../authorization/additions.ts';
import { subjectOfHint } from '../../authorization/id-token-hint.ts';
import { promptValues } from '../../authorization/request-parameters.ts';
import { isLoopbackAddress } from '../../http/outbound/addresses.ts';
import { samePerson } from '../../person.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import type { Details } from '../../store/grant.ts';
import type { AskedConsent, PriorAuthorization, PriorConsent } from '../../store/prior-consent.ts';
import type { ConsentRequest } from '../../store/requests.ts';
import { MARKED } from '../../store/further-metadata.ts';
import { consentDetails, consentOf, type KeptConsent } from './kept-consent.ts';
import { recordRefusal } from './refusals.ts';

/** The metadata field that marks a first-party client. */
export const FIRST_PARTY = 'first_party';

/** Finds access that users have allowed first-party clients and have not withdrawn. */
export class FirstPartyMemory implements PriorConsent {
  readonly #server: Server;
  readonly #isOn: boolean;

  /**
   * If `isOn` is false, the server always shows the consent page, but still records what users
   * refuse.
   */
  constructor(server: Server, isOn: boolean) {
    this.#server = server;
    this.#isOn = isOn;
  }

  /**
   * Returns true if the server can skip the consent page for this client. An operator must have
   * registered it as first-party, and all of its redirect URIs must be websites. With another
   * redirect URI, another program on the device could receive the response (RFC 8252 section 8.6).
   * `connection` is in the current transaction.
   */
  async remembers(client: Client, connection?: SqlConnection): Promise<boolean> {
    const { id, registeredBy, applicationType, redirectUris } = client;
    if (registeredBy !== 'operator' || applicationType !== 'web') return false;
    if (redirectUris.length === 0 || !redirectUris.every(isWebSite)) return false;
    const { [FIRST_PARTY]: mark = [] } = await this.#server.furtherMetadata.find(id, connection);
    return mark.includes(MARKED);
  }

  async find({ asked, client, person, scopes }: AskedConsent): Promise<PriorAuthorization | null> {
    const { store, clock } = this.#server;
    const { redirectUri } = asked;
    if (!this.#isOn) return null;
    if (promptValues(asked.further?.['prompt']).has('consent')) return null;
    if (!client.redirectUris.includes(redirectUri)) return null;
    if (!(await this.remembers(client))) return null;
    const hint = asked.further?.['id_token_hint'];
    const hinted = hint === undefined ? null : subjectOfHint(hint);
    const living = await store.authorizations.listAuthorizations(person, clock());
    const found = living.findLast(
      ({ family, redeemed }) =>
        isCovered(consentOf(family.details), client) &&
        // Another application may have received the code of an authorization without tokens.
        redeemed &&
        family.clientId === client.id &&
        samePerson(family.person, person) &&
        (hint === undefined || hinted === family.subject) &&
        family.audience === asked.audience &&
        scopes.every((name) => family.scopes.includes(name)),
    );
    if (found === undefined) return null;
    const { id } = found.family;
    const applies = (on: SqlConnection) => this.#applies(id, { client, redirectUri }, on);
    return { id, details: found.family.details, applies };
  }

  answered(request: ConsentRequest, refused: readonly string[]): Promise<void> {
    return recordRefusal(this.#server, request, refused);
  }

  /**
   * Returns details that make the server remember the user's consent. The consent of an earlier
   * authorization has priority. Returns undefined if the server remembers no consent for this
   * client.
   */
  async mark({ client, prior }: AllowedAuthorization): Promise<Details | undefined> {
    const inherited = consentOf(prior?.details);
    if (inherited !== null) return consentDetails(inherited);
    if (!(await this.remembers(client))) return undefined;
    return consentDetails({ renews: client.grants.includes('refresh_token') });
  }

  /**
   * Returns true if this authorization still lets the server skip the consent page. It may have
   * changed since `find`, because the server called the host in between.
   *
   * Locks the client's row, so the first-party mark and the redirect URIs cannot change in this
   * transaction. In a Galera cluster, another node can still change them before the commit.
   */
  async #applies(
    id: string,
    { client: { id: clientId }, redirectUri }: { client: Client; redirectUri: string },
    connection: SqlConnection,
  ): Promise<boolean> {
    const { clients, authorizations } = this.#server.store;
    const client = await clients.claimClient(clientId, connection);
    if (client?.redirectUris.includes(redirectUri) !== true) return false;
    if (!(await this.remembers(client, connection))) return false;
    const holder = await authorizations.findHolder(id, connection);
    return isCovered(consentOf(holder?.details), client);
  }
}

/**
 * Returns true if the consent is still valid for this client. With refresh tokens, the consent page
 * must have said that access continues.
 */
function isCovered(consent: KeptConsent | null, { grants }: Client): boolean {
  if (consent === null || consent.refused === true) return false;
  return consent.renews || !grants.includes('refresh_token');
}

/** Returns true for an https URL of a website that is not on the user's device. */
function isWebSite(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return protocol === 'https:' && !LOCAL_HOST.test(host) && !isLoopbackAddress(host);
}

/** Matches `localhost`, its subdomains (RFC 6761 section 6.3) and the unspecified addresses. */
const LOCAL_HOST = /^(?:(?:.+\.)?localhost|0\.0\.0\.0|::)$/;
