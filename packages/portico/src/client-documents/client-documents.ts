import type { PersonReference } from '../contracts/person.ts';
import { RecentMap } from '../http/recent-map.ts';
import type { Audit } from '../auditing/audit.ts';
import { page } from '../words/words.ts';
import { AuthorizationPageError } from '../errors.ts';
import type { FetchJson } from '../outbound/fetch-json.ts';
import type { ClientDemand } from '../clients/demands.ts';
import { firstWithKey, newClient } from '../clients/registration.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SecurityProfile } from '../profiles/profiles.ts';
import { OutboundError } from '../outbound/limits.ts';
import { quotedUri } from '../quoting.ts';
import type { Client } from '../store/client.ts';
import type { DocumentClientRecords } from '../store/sql/document-clients.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import { isClientUrl, type ClientUrls } from './client-urls.ts';
import { DocumentError, readDocument } from './document.ts';
import { secondsFresh } from '../outbound/freshness.ts';

/** Clients whose id is the URL of the document that describes them (decision 35). */
export interface ClientDocuments {
  /** Whether this id can be such a client here. A person must be signed in before the server fetches its document. */
  names(clientId: string): boolean;
  /** Throws a page error for an id whose host is not allowed. Fetches nothing. */
  require(clientId: string): void;
  /**
   * The client as its document describes it, also a revoked one. Fetches the document unless it is known and fresh. Throws a page
   * error if no client can be made of the document.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /** Stores the client before a person sees it. Throws a page error if it was revoked meanwhile. */
  keep(client: Client): Promise<void>;
}

/** A person who is signed in, or a client that pushes a request (RFC 9126), of which only the network is known. */
export type FetchedFor = PersonReference | { readonly network: string };

export interface ClientDocumentsOptions {
  readonly isOn: boolean;
  readonly urls: ClientUrls;
  readonly store: DocumentClientRecords;
  readonly fetchJson: FetchJson;
  readonly audit: Audit;
  readonly scopes: ScopeCatalog;
  /** Whether clients may have keys of their own (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  /** What clients may demand. */
  readonly demands: readonly ClientDemand[];
  /** Whether keys of clients are fetched from any port: while developing; false unless given. */
  readonly anyPort?: boolean | undefined;
  /** The profile of the whole server, or null: it decides what ID tokens are signed with where a document does not say. */
  readonly profile: SecurityProfile | null;
  readonly keys: Pick<KeyRing, 'all' | 'algorithms'>;
  readonly serverName: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** The largest document that is read, in bytes (section 8.7 of the draft). */
const LARGEST = 5 * 1024;
/** How many documents this process remembers that no person has seen yet. */
const MOST_REMEMBERED = 100;

interface Known {
  readonly client: Client;
  readonly freshUntil: number;
}

export function createClientDocuments(options: ClientDocumentsOptions): ClientDocuments {
  const {
    isOn,
    urls,
    store,
    fetchJson,
    audit,
    scopes: catalog,
    takesKeys,
    demands,
    anyPort,
    profile,
    keys,
    serverName,
    clock,
  } = options;
  const remembered = new RecentMap<string, Known>(MOST_REMEMBERED);
  const underWay = new Map<string, Promise<Known>>();
  /** Fetched, and not kept yet. */
  const fetched = new WeakMap<Client, number>();

  /** Without a key, a request for openid is told which key is missing. */
  const unnamedAlgorithm = async () =>
    profile === null
      ? DEFAULT_ALGORITHM
      : ((await firstWithKey(profile.idTokenAlgorithms, keys)) ?? profile.idTokenAlgorithms[0]);

  async function fetchDocument(url: string, forWhom: FetchedFor, isKnown: boolean): Promise<Known> {
    const { value, headers } = await fetchJson(new URL(url), {
      limit: LARGEST,
      ...countedFor(forWhom),
      isKnown,
    });
    const now = clock();
    const described = readDocument(value, url, {
      catalog,
      takesKeys,
      demands,
      unnamedAlgorithm: await unnamedAlgorithm(),
      algorithms: keys.algorithms,
      keysRefusal: (at) => urls.refusal(at),
      anyPort,
    });
    const client = newClient(
      { ...described, public: described.keys === null, profile: null },
      {
        id: url,
        registeredBy: 'document',
        secretHash: null,
        createdAt: now,
      },
    );
    const freshUntil = now + secondsFresh(headers) * 1000;
    fetched.set(client, freshUntil);
    return { client, freshUntil };
  }

  /** Failures are not remembered: the fetch itself limits how often it is tried again. */
  async function fetchAndRemember(url: string, forWhom: FetchedFor, isKnown: boolean): Promise<Known> {
    try {
      return remembered.put(url, await fetchDocument(url, forWhom, isKnown));
    } finally {
      underWay.delete(url);
    }
  }

  function fetchOnce(url: string, forWhom: FetchedFor, isKnown: boolean): Promise<Known> {
    const running = underWay.get(url) ?? fetchAndRemember(url, forWhom, isKnown);
    underWay.set(url, running);
    return running;
  }

  const isFresh = ({ freshUntil }: Known) => freshUntil > clock();
  /**
   * The row may date from a time when clients could have keys here or demand bound tokens, or when
   * there was no profile. The client may differ now.
   */
  const isUsable = ({ client }: Known) =>
    (takesKeys || client.keys === null) &&
    demands.every(({ isStrict, isMet, field }) => !isStrict || isMet || !client[field]) &&
    (profile?.idTokenAlgorithms.includes(client.idTokenSignedResponseAlg) ?? true);
  /** It is unblocked, but not a client yet: its document was not read since. */
  const isRead = ({ client }: Known) => client.grants.length > 0;
  /**
   * This process may remember the document from before the URL was blocked. That copy is not used.
   */
  const isNow = (here: Known, kept: Known | null) =>
    kept === null
      ? fetched.has(here.client)
      : here.freshUntil >= kept.freshUntil && here.client.createdAt >= kept.client.createdAt;
  /** This process may offer scopes that the one that kept the row did not. */
  const lacksNoneOf = (asked: readonly string[], { client }: Known) =>
    asked.every((scope) => !catalog.has(scope) || client.scopes.includes(scope));

  function refused(url: string, detail: string, retryAfter: number | null = null): AuthorizationPageError {
    return new AuthorizationPageError(
      page('error.unread_client', { host: new URL(url).host, server: serverName }),
      `the document of the client ${quotedUri(url)} cannot be used: ${detail}`,
      retryAfter === null ? {} : { retryAfter },
    );
  }

  return {
    names: (clientId) => isOn && isClientUrl(clientId),

    require(clientId) {
      const refusal = urls.refusal(clientId);
      if (refusal === null) return;
      throw new AuthorizationPageError(
        page('error.untaken_client', { server: serverName }),
        `the client_id ${quotedUri(clientId)} is not taken: ${refusal}`,
      );
    },

    async find(url, forWhom, asked) {
      const kept = await store.findDocumentClient(url);
      if (kept !== null && kept.client.revokedAt !== null) return kept.client;
      const here = remembered.get(url);
      if (here !== undefined && isFresh(here) && isNow(here, kept)) return here.client;
      if (kept !== null && isRead(kept) && isFresh(kept) && isUsable(kept) && lacksNoneOf(asked, kept))
        return kept.client;
      try {
        return (await fetchOnce(url, forWhom, kept !== null)).client;
      } catch (error) {
        if (error instanceof DocumentError) throw refused(url, error.message);
        if (error instanceof OutboundError) throw refused(url, error.message, error.retryAfter);
        throw error;
      }
    },

    async keep(client) {
      const freshUntil = fetched.get(client);
      if (freshUntil === undefined) return;
      const kept = await store.keepDocumentClient(client, freshUntil);
      if (kept === 'revoked') throw refused(client.id, 'it was revoked');
      fetched.delete(client);
      if (kept === 'new') {
        await audit({ type: 'client_registered', clientId: client.id, registeredBy: client.registeredBy });
      }
    },
  };
}

function countedFor(forWhom: FetchedFor) {
  return 'network' in forWhom
    ? { person: forWhom.network, isStranger: true }
    : { person: JSON.stringify([forWhom.provider, forWhom.id]) };
}
