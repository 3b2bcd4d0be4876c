import type { Speaking } from './words/speaking.ts';
import type { Accounts } from './accounts.ts';
import type { Audit } from './auditing/audit.ts';
import { Consent } from './authorization/consent.ts';
import type { Sealer } from './server.ts';
import { createGrantedBefore } from './authorization/granted-before.ts';
import type { DirectRequests, IndirectRefusal } from './authorization/direct-requests.ts';
import { sentParameters } from './authorization/request-parameters.ts';
import { createRequestChecks, type RequestChecks } from './authorization/request.ts';
import { createWaitingRequests, type SentParameters } from './authorization/waiting-requests.ts';
import type { Hint } from './authorization/sign-in-hints.ts';
import { createSignInNotes, type SignInNotes } from './authorization/sign-in-notes.ts';
import { createClientDocuments, type ClientDocuments } from './client-documents/client-documents.ts';
import type { ClientUrls } from './client-documents/client-urls.ts';
import type { Clients } from './clients/clients.ts';
import type { RecordUse } from './clients/last-use.ts';
import { admitsUnverified, type OAuthServerConfig } from './config.ts';
import { AuthorizeReplies } from './endpoints/authorize-replies.ts';
import { AuthorizeEndpoint } from './endpoints/authorize.ts';
import type { ClientDemand } from './clients/demands.ts';
import type { Handler } from './endpoints/endpoint.ts';
import type { Parameters } from './parameters.ts';
import type { ClientLogos } from './clients/logos.ts';
import type { BrowserPaths } from './paths.ts';
import type { CompleteHost } from './host.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { FetchJson } from './outbound/fetch-json.ts';
import type { Profiles } from './profiles/profiles.ts';
import type { ProtectedResource } from './protected-resource.ts';
import type { Pruning } from './store/pruning.ts';
import type { Store } from './store/store.ts';
import type { KeyBinding } from './tokens/key-binding.ts';
import type { ScopeCatalog } from './tokens/scopes.ts';

export interface AuthorizingOptions {
  readonly issuer: string;
  readonly basePath: string;
  readonly config: OAuthServerConfig;
  readonly paths: BrowserPaths;
  readonly audience: string | null;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly host: CompleteHost;
  readonly accounts: Accounts;
  readonly scopes: ScopeCatalog;
  readonly keys: KeyRing;
  readonly clients: Pick<Clients, 'find'>;
  readonly profiles: Profiles;
  readonly urls: ClientUrls;
  readonly fetchJson: FetchJson;
  /** Whether keys of clients are fetched from any port: while developing. */
  readonly anyPort: boolean;
  readonly contributions: {
    readonly directRequests: DirectRequests | null;
    readonly indirectRefusals: readonly IndirectRefusal[];
    readonly accessPath: string | null;
    readonly logos: ClientLogos | null;
  };
  /** Null where tokens are bound to nothing. */
  readonly binding: KeyBinding | null;
  readonly demands: readonly ClientDemand[];
  readonly resource: ProtectedResource;
  readonly speaking: Speaking;
  readonly audit: Audit;
  readonly recordUse: RecordUse;
  readonly pruning: Pruning;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

export interface Authorizing {
  readonly authorize: Handler;
  readonly consent: Handler;
  readonly documents: ClientDocuments;
  readonly checks: RequestChecks;
  readonly keptOf: (parameters: Parameters) => SentParameters;
  readonly waitingFor: SignInNotes['find'];
}

/** Puts together what becomes of authorization requests, from where they arrive to the person's answer. */
export function createAuthorizing(options: AuthorizingOptions): Authorizing {
  const { issuer, config, paths, store, host, accounts, scopes, clients, profiles } = options;
  const { audit, pruning, clock, binding, demands, speaking } = options;
  const withLanguage = speaking.locales !== null;
  const { name: serverName, private_key_jwt: takesKeys = false } = config;
  const { directRequests, indirectRefusals, logos } = options.contributions;
  const accessPath = options.contributions.accessPath ?? paths.home;
  const keyParameter = binding?.parameter ?? null;
  /** What nobody reads is not kept: a request that waits has little room. */
  const hints: readonly Hint[] = [
    ...(host.tellsWhoWaits ? (['login_hint'] as const) : []),
    ...(host.tellsWhoWaits || withLanguage ? (['ui_locales'] as const) : []),
  ];
  const documents = createClientDocuments({
    isOn: (config.client_id_metadata_documents ?? false) !== false,
    urls: options.urls,
    store: store.documentClients,
    fetchJson: options.fetchJson,
    anyPort: options.anyPort,
    audit,
    scopes,
    takesKeys,
    demands,
    isProfiled: profiles.isServers,
    keys: options.keys,
    serverName,
    clock,
  });
  const checks = createRequestChecks({
    clients,
    documents,
    profiles,
    scopes,
    admitsUnverified: admitsUnverified(config),
    keys: options.keys,
    audience: options.audience,
    keyParameter,
    serverName,
    withLanguage,
    indirectRefusals,
    keyPath: config.key_path,
  });
  const waiting = createWaitingRequests({
    store: store.waitingRequests,
    sealer: options.sealer,
    host,
    pruning,
    clock,
    lifetime: config.consent_ttl,
    path: paths.authorize,
    issuer,
  });
  const notes = createSignInNotes({
    sealer: options.sealer,
    clients,
    documents,
    serverName,
    issuer,
    basePath: options.basePath,
    authorizePath: paths.authorize,
    clock,
    lifetime: config.consent_ttl,
  });
  const consent = new Consent({
    store,
    clients,
    documents,
    host,
    scopes,
    resource: options.resource,
    grantedBefore: createGrantedBefore({ store: store.authorizations, scopes, clock }),
    audit,
    recordUse: options.recordUse,
    pruning,
    clock,
    lifetimes: config,
    profiles,
    indirectRefusals,
    accessPath,
  });
  const replies = new AuthorizeReplies({
    host,
    scopes,
    profiles,
    issuer,
    paths,
    accessPath,
    lifetimes: config,
    logoPath: logos?.path ?? null,
    serverName,
    speaking,
  });
  const keptOf = (parameters: Parameters) => sentParameters(parameters, { keyParameter, hints });
  const endpoint = new AuthorizeEndpoint({
    checks,
    consent,
    waiting,
    notes: host.tellsWhoWaits ? notes : null,
    directRequests,
    accounts,
    host,
    replies,
    path: paths.authorize,
    binding,
    hints,
    keptOf,
  });
  return {
    authorize: (request) => endpoint.get(request),
    consent: (request) => endpoint.post(request),
    async waitingFor(request, returnTo) {
      if (host.tellsWhoWaits) return notes.find(request, returnTo);
      throw new Error('Nobody is told who waits: give the host tellsWhoWaits: true');
    },
    documents,
    checks,
    keptOf,
  };
}
