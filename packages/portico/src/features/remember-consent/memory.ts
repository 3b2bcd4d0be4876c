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

/**
 * Finds access that users have allowed first-party clients on the consent page and have not
 * withdrawn since.
 */
export class FirstPartyMemory implements PriorConsent {
  readonly #server: Server;
  readonly #isOn: boolean;

  /**
   * If `isOn` is false, the server always shows the consent page. It still records what users
   * refuse there.
   */
  constructor(server: Server, isOn: boolean) {
    this.#server = server;
    this.#isOn = isOn;
  }

  /**
   * Whether the server can skip the consent page for this client. An operator must have registered
   * the client and marked it as first-party, and all of its redirect URIs must be websites. With
   * any other redirect URI, another program on the device could receive the response (RFC 8252
   * section 8.6). `connection` is the current transaction's connection, if any.
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
        // Skip authorizations without tokens: another application may have received the
        // authorization code.
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

  answered(request: ConsentRequest, allowed: readonly string[]): Promise<void> {
    return recordRefusal(this.#server, request, allowed);
  }

  /**
   * Returns details that make the server remember the user's consent. Reuses the consent of an
   * earlier authorization. Without an earlier consent, returns undefined if the server does not
   * remember consent for this client.
   */
  async mark({ client, prior }: AllowedAuthorization): Promise<Details | undefined> {
    const inherited = consentOf(prior?.details);
    if (inherited !== null) return consentDetails(inherited);
    if (!(await this.remembers(client))) return undefined;
    return consentDetails({ renews: client.grants.includes('refresh_token') });
  }

  /**
   * Whether this authorization still lets the server skip the consent page. It may have changed
   * since `find`, because the server has called the host since then.
   *
   * Locks the client's row, so that the first-party mark and the redirect URIs cannot change during
   * this transaction. In a Galera cluster, another node can still change them before the commit.
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
 * Whether the stored consent is still valid for this client. If the client can have refresh tokens,
 * the consent page must have said that the access continues.
 */
function isCovered(consent: KeptConsent | null, { grants }: Client): boolean {
  if (consent === null || consent.refused === true) return false;
  return consent.renews || !grants.includes('refresh_token');
}

/** Whether the URL is an https URL on a website, not on the user's device. */
function isWebSite(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return protocol === 'https:' && !LOCAL_HOST.test(host) && !isLoopbackAddress(host);
}

/** Matches `localhost`, its subdomains (RFC 6761 section 6.3) and the unspecified addresses. */
const LOCAL_HOST = /^(?:(?:.+\.)?localhost|0\.0\.0\.0|::)$/;
