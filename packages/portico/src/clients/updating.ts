import { actedBy, type Acting } from '../auditing/audit.ts';
import { RegistrationError } from '../errors.ts';
import type { Client, ClientLogo, ClientLook } from '../store/client.ts';
import type { Server } from '../server.ts';
import { changedClient, type ClientChanges } from './changed-client.ts';
import { differences, furtherDifferences, type FieldChanges } from './field-changes.ts';
import { namedLogo, type ClientLogos } from './logos.ts';
import { checkSite } from './sites.ts';

/** The result of an update of a client. */
export interface UpdatedClient {
  /** The client after the update. */
  readonly client: Client;
  /**
   * The fields that the update changed, by their names in client metadata (RFC 7591). Empty if the
   * update changed nothing.
   */
  readonly changes: FieldChanges;
}

/** How often to try again if other updates change the client at the same time. */
const MOST_ATTEMPTS = 20;

export class ClientUpdates {
  readonly #server: Server;
  readonly #logos: ClientLogos | null;
  /** Throws a RegistrationError if the client is unknown or revoked. */
  readonly #requireLiving: (clientId: string) => Promise<Client>;

  constructor(
    server: Server,
    logos: ClientLogos | null,
    requireLiving: (clientId: string) => Promise<Client>,
  ) {
    this.#server = server;
    this.#logos = logos;
    this.#requireLiving = requireLiving;
  }

  async update(clientId: string, changes: ClientChanges, acting?: Acting): Promise<UpdatedClient> {
    const logo = await this.#logoOf(clientId, changes);
    for (let count = 0; count < MOST_ATTEMPTS; count += 1) {
      // If another update comes first, try again with its result. No update is lost.
      const updated = await this.#attempt(clientId, changes, logo);
      if (updated === null) continue;
      const { client, changes: fields } = updated;
      if (Object.keys(fields).length > 0) {
        const about = { clientId, registeredBy: client.registeredBy, changes: fields };
        await this.#server.audit({ type: 'client_updated', ...about, ...actedBy(acting) });
      }
      return updated;
    }
    throw new RegistrationError(
      'Another process changed the client at the same time, so your changes were not applied; ' +
        'try again',
    );
  }

  async #attempt(
    clientId: string,
    changes: ClientChanges,
    logo: ClientLogo | null | undefined,
  ): Promise<UpdatedClient | null> {
    const read = await this.#requireLiving(clientId);
    requireOperators(read);
    const client = {
      ...(await changedClient(read, changes, this.#server)),
      ...getShown(read, changes, logo),
    };
    const { furtherMetadata } = this.#server;
    furtherMetadata.check(changes.metadata ?? {}, read.applicationType);
    const metadata = await furtherMetadata.find(clientId);
    const fields = {
      ...differences(read, client),
      ...furtherDifferences(metadata, changes.metadata ?? {}),
    };
    if (Object.keys(fields).length === 0) return { client: read, changes: {} };
    const addition = furtherMetadata.writing(clientId, changes.metadata);
    const { clients } = this.#server.store;
    const isWritten = await clients.updateClient(read, client, { logo, addition });
    return isWritten ? { client, changes: fields } : null;
  }

  /**
   * Undefined keeps the logo, and null removes it. Called once, before the first attempt: the
   * server may have to fetch the logo.
   */
  async #logoOf(
    clientId: string,
    { logo, logoUri }: ClientChanges,
  ): Promise<ClientLogo | null | undefined> {
    if (logo === null) return null;
    const named = {
      ...(logo === undefined ? {} : { logo }),
      ...(logoUri === undefined ? {} : { logoUri }),
    };
    if (Object.keys(named).length === 0) return undefined;
    requireOperators(await this.#requireLiving(clientId));
    return namedLogo(named, this.#logos);
  }
}

function requireOperators({ registeredBy }: Client): void {
  if (registeredBy === 'document') {
    throw new RegistrationError(
      'This client is defined by its document; change the document instead. To block the ' +
        'client, use oauth:client:revoke',
    );
  }
  if (registeredBy === 'registration') {
    throw new RegistrationError(
      'This client registered itself and manages its own data (RFC 7592), so you cannot ' +
        'change it. To revoke it, use oauth:client:revoke',
    );
  }
}

function getShown(
  { siteUri: siteBefore, logoHash: logoBefore }: Client,
  { siteUri }: ClientChanges,
  logo: ClientLogo | null | undefined,
): ClientLook {
  const site =
    siteUri === undefined ? siteBefore : siteUri === null ? undefined : checkSite(siteUri);
  const hash = logo === undefined ? logoBefore : logo?.hash;
  return {
    ...(site === undefined ? {} : { siteUri: site }),
    ...(hash === undefined ? {} : { logoHash: hash }),
  };
}
