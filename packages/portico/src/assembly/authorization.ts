import type { Server } from '../server.ts';
import type { Contributions } from './start-features.ts';
import { Consent } from '../authorization/consent.ts';
import { createGrantedBefore } from '../authorization/granted-before.ts';
import { sentParameters } from '../authorization/request-parameters.ts';
import { createRequestChecks, type RequestChecks } from '../authorization/request.ts';
import { createWaitingRequests, type SentParameters } from '../authorization/waiting-requests.ts';
import type { Hint } from '../authorization/sign-in-hints.ts';
import { createSignInNotes, type SignInNotes } from '../authorization/sign-in-notes.ts';
import type { Clients } from '../clients/clients.ts';
import type { LastUse } from '../clients/last-use.ts';
import { AuthorizeReplies } from '../endpoints/authorize-replies.ts';
import { AuthorizeEndpoint } from '../endpoints/authorize.ts';
import type { Handler } from '../endpoints/endpoint.ts';
import type { Parameters } from '../parameters.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';

/** What the authorization endpoint needs besides the shared parts. */
export interface AuthorizationNeeds {
  readonly clients: Clients;
  readonly contributions: Contributions;
  readonly resource: ProtectedResource;
  readonly lastUse: LastUse;
}

/** Handles an authorization request, from its arrival to the person's answer. */
export interface AuthorizationParts {
  readonly authorize: Handler;
  readonly consent: Handler;
  readonly checks: RequestChecks;
  readonly keptOf: (parameters: Parameters) => SentParameters;
  readonly waitingFor: SignInNotes['find'];
}

/** Assembles the authorization endpoint. */
export function assembleAuthorization(server: Server, needs: AuthorizationNeeds): AuthorizationParts {
  const { issuer, config, paths, store, sealer, host, accounts, scopes, keys, profiles } = server;
  const { audit, pruning, clock, speaking } = server;
  const { clients, resource, lastUse } = needs;
  const {
    clientSource,
    binding,
    directRequests,
    indirectRefusals,
    mayRedirect,
    responseModes,
    droppedScopes,
    logos,
  } = needs.contributions;
  const withLanguage = speaking.locales !== null;
  const { name: serverName } = config;
  const accessPath = needs.contributions.accessPath ?? paths.home;
  const keyParameter = binding?.parameter ?? null;
  /** A waiting request has little room, so only the hints that a page reads are kept. */
  const hints: readonly Hint[] = [
    ...(host.tellsWhoWaits ? (['login_hint'] as const) : []),
    ...(host.tellsWhoWaits || withLanguage ? (['ui_locales'] as const) : []),
  ];
  const checks = createRequestChecks({
    clients,
    clientSource,
    profiles,
    scopes,
    droppedScopes,
    keys,
    audience: server.audience,
    keyParameter,
    serverName,
    withLanguage,
    indirectRefusals,
    mayRedirect,
    responseModes,
    keyPath: config.key_path,
  });
  const waiting = createWaitingRequests({
    store: store.waitingRequests,
    sealer,
    host,
    pruning,
    clock,
    lifetime: config.consent_ttl,
    path: paths.authorize,
    issuer,
  });
  const notes = createSignInNotes({
    sealer,
    clients,
    clientSource,
    serverName,
    issuer,
    basePath: server.basePath,
    authorizePath: paths.authorize,
    clock,
    lifetime: config.consent_ttl,
  });
  const consent = new Consent({
    store,
    clients,
    clientSource,
    host,
    scopes,
    resource,
    grantedBefore: createGrantedBefore({ store: store.authorizations, scopes, clock }),
    audit,
    lastUse,
    pruning,
    clock,
    lifetimes: config,
    profiles,
    indirectRefusals,
    mayRedirect,
    responseModes,
    accessPath,
  });
  const replies = new AuthorizeReplies({
    host,
    scopes,
    scopeHeadings: server.scopeHeadings,
    profiles,
    responseModes,
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
      throw new Error('waitingFor() needs tellsWhoWaits: true in the host');
    },
    checks,
    keptOf,
  };
}
