import { isClientUrl, type ClientSource, type FetchedFor } from '../../clients/client-source.ts';
import { firstWithKey } from '../../clients/id-token-algorithms.ts';
import { newClient } from '../../clients/new-client.ts';
import { AuthorizationPageError } from '../../errors.ts';
import { RecentMap } from '../../http/recent-map.ts';
import { DEFAULT_ALGORITHM } from '../../keys/algorithms.ts';
import type { FetchJson } from '../../http/outbound/fetch-json.ts';
import { LONGEST_FRESH, secondsFresh } from '../../http/outbound/freshness.ts';
import type { DocumentHosts } from '../../http/outbound/hosts.ts';
import { OutboundError } from '../../http/outbound/limits.ts';
import { quotedUri } from '../../quoting.ts';
import type { Server } from '../../server.ts';
import type { Client, ClientKeys, SigningAlgorithm } from '../../store/client.ts';
import { page } from '../../pages/words.ts';
import { urlRefusal } from './client-urls.ts';
import { DocumentError, readDocument, readDocumentKeys } from './document.ts';

/** The maximum size of a document, in bytes (section 8.7 of the draft). */
const LARGEST = 5 * 1024;
/** How many documents this process remembers. */
const MOST_REMEMBERED = 100;

interface Known {
  readonly client: Client;
  readonly freshUntil: number;
}

interface Fetched extends Known {
  /** `freshUntil` in the stored row before this document was fetched. Null if there was no row. */
  readonly replaces: number | null;
}

/** Finds clients whose client id is the URL of a document that describes them (decision 35). */
export class ClientDocuments implements ClientSource {
  readonly #server: Server;
  readonly #config: boolean | DocumentHosts;
  readonly #fetchJson: FetchJson;
  readonly #remembered = new RecentMap<string, Fetched>(MOST_REMEMBERED);
  readonly #underWay = new Map<string, Promise<Fetched>>();
  /** Contains only clients whose document has not been stored yet. */
  readonly #fetched = new WeakMap<Client, Omit<Fetched, 'client'>>();

  constructor(server: Server, config: boolean | DocumentHosts, fetchJson: FetchJson) {
    this.#server = server;
    this.#config = config;
    this.#fetchJson = fetchJson;
  }

  names(clientId: string): boolean {
    return this.#config !== false && isClientUrl(clientId);
  }

  refusal(clientId: string): string | null {
    return urlRefusal(clientId, this.#config);
  }

  require(clientId: string): void {
    const refusal = this.refusal(clientId);
    if (refusal === null) return;
    throw new AuthorizationPageError(
      page('error.untaken_client', { server: this.#server.config.name }),
      `the client_id ${quotedUri(clientId)} cannot be used: ${refusal}`,
    );
  }

  async find(url: string, forWhom: FetchedFor, asked: readonly string[]): Promise<Client> {
    const { documentClients } = this.#server.store;
    let kept = await documentClients.findDocumentClient(url);
    const here = this.#remembered.get(url);
    // Another request may have stored the document after the first read, so read the row again.
    if (kept === null && here !== undefined && !this.#fetched.has(here.client))
      kept = await documentClients.findDocumentClient(url);
    if (kept !== null && kept.client.revokedAt !== null) return kept.client;
    if (here !== undefined && this.#isFresh(here) && this.#isNow(here, kept)) return here.client;
    if (kept !== null && this.#canServe(kept, asked)) return kept.client;
    try {
      return (await this.#fetchOnce(url, forWhom, kept?.freshUntil ?? null)).client;
    } catch (error) {
      if (error instanceof DocumentError) throw this.#refused(url, error.message);
      if (error instanceof OutboundError) throw this.#refused(url, error.message, error.retryAfter);
      throw error;
    }
  }

  async keep(client: Client): Promise<void> {
    const { store, audit } = this.#server;
    const fetched = this.#fetched.get(client);
    if (fetched === undefined) return;
    const { freshUntil, replaces } = fetched;
    const kept = await store.documentClients.keepDocumentClient(client, freshUntil, replaces);
    if (kept === 'revoked') throw this.#refused(client.id, 'it was revoked');
    this.#fetched.delete(client);
    if (kept === 'overtaken') this.#remembered.delete(client.id);
    if (kept === 'new') {
      await audit({
        type: 'client_registered',
        clientId: client.id,
        registeredBy: client.registeredBy,
      });
    }
  }

  unblock(url: string): Promise<boolean> {
    const { store, clock } = this.#server;
    return store.documentClients.unblockDocumentClient(url, clock());
  }

  /** If the document cannot be used, throws an OutboundError, as if the fetch had failed. */
  keysIn(document: unknown, url: string): ClientKeys {
    try {
      return readDocumentKeys(document, url, this.#keyRules());
    } catch (error) {
      throw error instanceof DocumentError ? new OutboundError(error.message) : error;
    }
  }

  #keyRules() {
    const { anyPort } = this.#server.fetching;
    return { keysRefusal: (at: string) => this.refusal(at), anyPort };
  }

  /**
   * Returns the ID token algorithm for documents that name none. Without a suitable key, returns
   * the preferred algorithm. The error for the scope `openid` then says which key is missing.
   */
  async #unnamedAlgorithm(): Promise<SigningAlgorithm> {
    const { profiles, keys } = this.#server;
    if (profiles.servers === null) return DEFAULT_ALGORITHM;
    const { idTokenAlgorithms } = profiles.servers;
    return (await firstWithKey(idTokenAlgorithms, keys)) ?? idTokenAlgorithms[0];
  }

  async #fetchDocument(
    url: string,
    forWhom: FetchedFor,
    replaces: number | null,
  ): Promise<Fetched> {
    const { scopes: catalog, demands, keys, clock } = this.#server;
    const { value, headers } = await this.#fetchJson(new URL(url), {
      limit: LARGEST,
      ...countedFor(forWhom),
      isKnown: replaces !== null,
    });
    const now = clock();
    const described = readDocument(value, url, {
      catalog,
      takesKeys: this.#server.takesKeys(),
      grantTypes: this.#server.grantTypes(),
      demands,
      unnamedAlgorithm: await this.#unnamedAlgorithm(),
      algorithms: keys.algorithms,
      ...this.#keyRules(),
    });
    const client = newClient(
      { ...described, public: described.keys === null, profile: null },
      { id: url, registeredBy: 'document', secretHash: null, createdAt: now },
    );
    const freshUntil = now + secondsFresh(headers) * 1000;
    this.#fetched.set(client, { freshUntil, replaces });
    return { client, freshUntil, replaces };
  }

  /** Remembers only successful fetches. The limits for fetches already prevent frequent retries. */
  async #fetchAndRemember(
    url: string,
    forWhom: FetchedFor,
    replaces: number | null,
  ): Promise<Fetched> {
    try {
      return this.#remembered.put(url, await this.#fetchDocument(url, forWhom, replaces));
    } finally {
      this.#underWay.delete(url);
    }
  }

  #fetchOnce(url: string, forWhom: FetchedFor, replaces: number | null): Promise<Fetched> {
    const running = this.#underWay.get(url) ?? this.#fetchAndRemember(url, forWhom, replaces);
    this.#underWay.set(url, running);
    return running;
  }

  /**
   * Returns false for a time too far in the future: the clock has been set back since the fetch.
   */
  #isFresh({ freshUntil }: Known): boolean {
    const now = this.#server.clock();
    return freshUntil > now && freshUntil <= now + LONGEST_FRESH;
  }

  /**
   * Returns true if the remembered document is at least as new as the stored one. Another process
   * may have stored other contents, even if those are fresh for a shorter time (RFC 9111 section
   * 4). Or an operator may have blocked and unblocked the URL since the fetch.
   */
  #isNow(here: Fetched, kept: Known | null): boolean {
    if (kept === null) return this.#fetched.has(here.client);
    const isUnchanged = kept.freshUntil === here.replaces || kept.freshUntil === here.freshUntil;
    return isUnchanged && here.client.createdAt >= kept.client.createdAt;
  }

  /** Returns true if the server can use the stored client for these scopes without a new fetch. */
  #canServe(kept: Known, asked: readonly string[]): boolean {
    const { scopes: catalog } = this.#server;
    const { grants, scopes } = kept.client;
    // A client without grants was unblocked, and its document has not been stored since then.
    if (grants.length === 0 || !this.#isFresh(kept) || !this.#isUsable(kept.client)) return false;
    // The process that stored the client may have offered fewer scopes. If an offered scope is
    // missing, fetch the document again.
    return asked.every((scope) => !catalog.has(scope) || scopes.includes(scope));
  }

  /**
   * Returns true if the current configuration allows the stored client. An operator may have
   * changed the settings for client keys, bound tokens or the security profile.
   */
  #isUsable(client: Client): boolean {
    const { demands, profiles } = this.#server;
    return (
      (this.#server.takesKeys() || client.keys === null) &&
      demands.every(({ isStrict, isMet, field }) => !isStrict || isMet || !client[field]) &&
      (profiles.servers?.idTokenAlgorithms.includes(client.idTokenSignedResponseAlg) ?? true)
    );
  }

  #refused(url: string, detail: string, retryAfter: number | null = null): AuthorizationPageError {
    return new AuthorizationPageError(
      page('error.unread_client', { host: new URL(url).host, server: this.#server.config.name }),
      `the document of the client ${quotedUri(url)} cannot be used: ${detail}`,
      retryAfter === null ? {} : { retryAfter },
    );
  }
}

function countedFor(forWhom: FetchedFor) {
  return 'network' in forWhom
    ? { person: forWhom.network, isStranger: true }
    : { person: JSON.stringify([forWhom.provider, forWhom.id]) };
}
