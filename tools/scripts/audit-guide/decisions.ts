/** A decision that accepts or rejects something, and the code that makes it. */
export interface Decision {
  /** The question that the code answers. */
  readonly question: string;
  /**
   * Where the code answers the question: `<file>#<symbol>`, with the file below `packages/`. A
   * symbol is a name at the top of the file, or `Class.method`.
   */
  readonly at: readonly string[];
}

/** The decisions about one subject, in the order in which a request reaches them. */
export interface Subject {
  readonly title: string;
  readonly decisions: readonly Decision[];
}

const decision = (question: string, ...at: readonly string[]): Decision => ({ question, at });

/** Every decision that an auditor should read. `npm run audit:guide` finds their lines. */
export const SUBJECTS: readonly Subject[] = [
  {
    title: 'Authorization request and consent',
    decisions: [
      decision(
        'Which client sent the request, and may the response go to this redirect URI?',
        'portico/src/authorization/request.ts#RequestChecks.#judge',
        'portico/src/clients/redirect-uris.ts#redirectWith',
      ),
      decision(
        'May this redirect URI be registered?',
        'portico/src/clients/redirect-uris.ts#redirectUriProblem',
      ),
      decision(
        'What are the other checks of the request, in order?',
        'portico/src/authorization/checks.ts#CHECKS',
      ),
      decision(
        'Is there a PKCE challenge with S256?',
        'portico/src/authorization/request-parameters.ts#requirePkce',
      ),
      decision(
        'Which scopes may this person give this client?',
        'portico/src/authorization/grantable-scopes.ts#GrantableScopes.#held',
        'portico/src/tokens/scopes.ts#requireScopes',
      ),
      decision(
        'Did the request that waits for sign-in start in this browser?',
        'portico/src/authorization/waiting-requests.ts#WaitingRequests.find',
        'portico/src/authorization/cookie-keys.ts#CookieSealer.open',
      ),
      decision(
        'Does this consent request belong to this person and browser?',
        'portico/src/authorization/saved-requests.ts#SavedRequests.#matchesBrowser',
        'portico/src/authorization/saved-requests.ts#SavedRequests.requireOwn',
      ),
      decision(
        'Did Portico create this consent form, for this request?',
        'portico/src/authorization/consent-question.ts#isConsentToken',
        'portico/src/authorization/saved-requests.ts#SavedRequests.requireCsrfToken',
      ),
      decision(
        'What does the answer grant, and is it accepted only once?',
        'portico/src/authorization/consent-answers.ts#ConsentAnswers.#answerFirst',
        'portico/src/store/sql/consent-requests.ts#ConsentRequestRecords.answerConsent',
        'portico/src/authorization/scope-choices.ts#chosenScopes',
      ),
      decision(
        'May consent be skipped? (switch)',
        'portico/src/features/remember-consent/memory.ts#FirstPartyMemory.find',
      ),
      decision(
        'Does the pushed request belong to this client? (switch)',
        'portico/src/features/pushed-requests/pushed.ts#PushedRequests.idOf',
        'portico/src/features/pushed-requests/demanded.ts#refuseUnpushed',
      ),
      decision(
        'Must the person authenticate again? (switch)',
        'portico/src/features/reauthentication/reauthentication.ts#Reauthentication.next',
        'portico/src/features/reauthentication/reauthentication.ts#Reauthentication.#isFresh',
      ),
    ],
  },
  {
    title: 'Client authentication and registration',
    decisions: [
      decision(
        'Who is the client?',
        'portico/src/clients/authentication.ts#ClientAuthentication.authenticate',
        'portico/src/clients/credentials.ts#readCredentials',
      ),
      decision('Is the secret correct?', 'portico/src/clients/secrets.ts#ClientSecrets.verify'),
      decision(
        'Is the assertion signed by this client, fresh, and unused?',
        'portico/src/clients/authentication.ts#ClientProofs.assertion',
        'portico/src/features/private-key-jwt/assertions.ts#Verifier.verify',
        'portico/src/store/sql/single-uses.ts#SingleUseRecords.claimSingleUse',
      ),
      decision(
        'Is a JWS signed with this key, and with an allowed algorithm?',
        'portico/src/keys/jws/public-keys.ts#isSignedBy',
        'portico/src/keys/jws/public-keys.ts#getAlgorithm',
      ),
      decision(
        'May the client use this grant?',
        'portico/src/grants/grant.ts#requireGrant',
        'portico/src/clients/registered-grants.ts#checkGrants',
      ),
      decision(
        'Is a client document valid, and may its URL be fetched? (switch)',
        'portico/src/features/client-documents/document.ts#readDocument',
        'portico/src/features/client-documents/client-urls.ts#urlRefusal',
        'portico/src/http/outbound/guarded-request.ts#GuardedRequests.#checkedAddresses',
        'portico/src/http/outbound/addresses.ts#isPublicAddress',
      ),
      decision(
        'May a client register or change itself? (switch)',
        'portico/src/features/registration/registrations.ts#Registrations.register',
        'portico/src/features/registration/registrations.ts#Registrations.find',
        'portico/src/features/registration/replaced-metadata.ts#requireSamePlaces',
      ),
      decision(
        'Are guesses slowed down?',
        'portico/src/http/failed-attempts.ts#FailedAttempts',
        'kit/src/accounts/sign-in.ts#guardSignIn',
      ),
    ],
  },
  {
    title: 'Token endpoint',
    decisions: [
      decision(
        'Does the code match the client, redirect URI, code verifier and key?',
        'portico/src/grants/authorization-code.ts#AuthorizationCodeGrant.answer',
        'portico/src/grants/code-exchange.ts#CodeExchange.exchange',
        'portico/src/grants/pkce.ts#verifiesChallenge',
      ),
      decision(
        'Does the refresh token belong to this client and key, and is it current?',
        'portico/src/grants/refresh-token.ts#RefreshTokenGrant.answer',
        'portico/src/grants/refresh-token.ts#RefreshTokenGrant.#requireKey',
      ),
      decision(
        'Which scopes are left after a refresh?',
        'portico/src/grants/refresh-token.ts#RefreshTokenGrant.#narrowed',
        'portico/src/grants/stored-grant.ts#requireScopesInForce',
      ),
      decision(
        'Which write makes sure that a grant is used only once?',
        'portico/src/store/sql/issue-tokens.ts#issueTokens',
        'portico/src/store/sql/claim.ts#claimAndInsert',
      ),
      decision(
        'What happens after a second use?',
        'portico/src/grants/replay-response.ts#Replays.revoke',
        'portico/src/grants/outcome.ts#Outcomes.#refused',
        'portico/src/features/refresh-retry/retries.ts#RefreshRetries.answer',
      ),
      decision(
        'Did a commit succeed if its result was lost?',
        'portico/src/grants/lost-answers.ts#LostAnswers.#settleOne',
      ),
      decision(
        'May tokens be issued to this person?',
        'portico/src/grants/issuing.ts#Issuing.requireIssuable',
        'portico/src/grants/issuing.ts#Issuing.forPerson',
      ),
      decision(
        'May a client get tokens for itself?',
        'portico/src/grants/client-credentials.ts#ClientCredentialsGrant.answer',
      ),
      decision(
        'Did this person approve the device? (switch)',
        'portico/src/features/device/approvals.ts#Approvals.allow',
        'portico/src/features/device/grant.ts#deviceGrant',
        'portico/src/features/device/guesses.ts#Guesses.attempt',
      ),
      decision(
        "Is another issuer's assertion trusted, and for whom? (switch)",
        'portico/src/keys/assertions/trusted-issuers.ts#TrustedIssuers.verify',
        'portico/src/keys/assertions/checks.ts#requireTimes',
        'portico/src/features/jwt-bearer/grant.ts#jwtBearerGrant',
        'portico/src/features/workload-identity/workload-tokens.ts#workloadTokens',
        'portico/src/keys/assertions/workloads.ts#matchesSubject',
      ),
      decision(
        'Does the DPoP proof match this request, and is it new? (switch)',
        'portico/src/keys/jws/dpop-proof.ts#checkDpopProof',
        'portico/src/features/dpop/dpop.ts#Dpop.claim',
        'portico/src/features/dpop/binding.ts#DpopBinding.prove',
      ),
      decision(
        'What does the FAPI 2.0 profile refuse? (switch)',
        'portico/src/features/fapi2/rules.ts#FAPI2_RULES',
      ),
    ],
  },
  {
    title: 'Use of a token',
    decisions: [
      decision(
        'Are the token, its authorization and its client valid? (one statement)',
        'portico/src/resource/bearer.ts#BearerTokens.lookUp',
        'portico/src/store/sql/access-tokens.ts#AccessTokenRecords.findAccessToken',
      ),
      decision(
        'Which scopes of the token are usable now?',
        'portico/src/resource/bearer.ts#BearerTokens.#usableScopes',
        'portico/src/resource/bearer.ts#BearerTokens.honouredScopes',
      ),
      decision(
        'Does the request prove the key of a bound token?',
        'portico/src/resource/bearer.ts#BearerTokens.#bindingProblem',
        'portico/src/features/dpop/resource-proofs.ts#ResourceProofs.#judge',
      ),
      decision(
        'Is the token for this API?',
        'portico/src/resource/protected-resource.ts#ProtectedResources.of',
        'portico/src/tokens/resource-indicators.ts#requireAudience',
      ),
      decision(
        'What may the handler do?',
        'portico/src/resource/token-accessor.ts#tokenLookUp',
        'portico/src/endpoints/protected-routes.ts#TokenRoutes',
      ),
      decision(
        'Was the authentication recent or strong enough? (switch)',
        'portico/src/resource/authentication-requirement.ts#authenticationProblem',
        'portico/src/features/step-up/granted-before.ts#grantedBefore',
      ),
      decision(
        'What does introspection return, and to which callers?',
        'portico/src/endpoints/introspect.ts#IntrospectEndpoint',
      ),
      decision(
        'What does a revocation end?',
        'portico/src/endpoints/revoke.ts#RevokeEndpoint',
        'portico/src/store/sql/authorizations.ts#AuthorizationRecords.revokeFamily',
      ),
      decision(
        'Does an API in another process accept the token?',
        'resource-server/src/server.ts#createResourceServer',
        'resource-server/src/server.ts#findProblem',
        'resource-server/src/introspection.ts#judged',
        'resource-server/src/proofs.ts#Proofs.refusal',
      ),
    ],
  },
  {
    title: 'MCP',
    decisions: [
      decision(
        'May this request use the endpoint?',
        'mcp/src/rpc-endpoint.ts#RpcEndpoint.#useRefusal',
        'mcp/src/origins.ts#isForeign',
        'mcp/src/tools/tool-access.ts#reachesResource',
      ),
      decision(
        'Which tools are listed, and which may be called?',
        'mcp/src/tools/tool-access.ts#callRefusal',
        'mcp/src/tools/tool-access.ts#listedScopes',
        'mcp/src/tools/guard.ts#readGuard',
      ),
    ],
  },
  {
    title: 'Sessions, forms and operators',
    decisions: [
      decision(
        'Who is signed in? (kit)',
        'kit/src/accounts/sessions.ts#RequestSession.#read',
        'kit/src/accounts/sessions.ts#RequestSession.signIn',
        'kit/src/accounts/auth.ts#RequestAuth.#load',
      ),
      decision(
        'Is a form or a script from this site? (kit)',
        'kit/src/accounts/csrf.ts#CsrfCheck.isNeeded',
        'kit/src/accounts/csrf.ts#CsrfCheck.check',
        'kit/src/accounts/login.ts#SignInPage.#isOurs',
      ),
      decision(
        'Is a request with a bearer token handled without a session?',
        'portico/src/authorization/refuse-bearer.ts#refuseBearer',
      ),
      decision(
        'Where may the browser go after a sign-in or sign-out?',
        'portico/src/http/return-path.ts#returnPath',
        'portico/src/features/logout/request.ts#LogoutRequests.#requireRegistered',
      ),
      decision(
        'May a person end this access? (switch)',
        'portico/src/features/applications/page.ts#ApplicationsPage.remove',
      ),
      decision(
        'May an administrator do this? (`@portico/admin`)',
        'admin/src/administration.ts#Administration.answer',
        'admin/src/forms.ts#Forms.refusal',
      ),
      decision(
        'What is the IP address of the caller?',
        'kit/src/http/client-address.ts#resolveClientAddress',
        'portico/src/http/addresses.ts#canonicalAddress',
      ),
      decision(
        'What does an endpoint read from a Node request, and what does it send?',
        'portico/src/mounts/node/mount.ts#answerOf',
        'portico/src/mounts/node/incoming-request.ts#IncomingRequest',
        'portico/src/mounts/node/sent-answer.ts#isPlain',
      ),
      decision(
        'Who is signed in to this browser, and does the form come from this browser?',
        'portico/src/host/accounts.ts#Accounts.visitor',
        'portico/src/host/form-token.ts#isFormToken',
      ),
      decision('May this client use this grant?', 'portico/src/grants/grant-types.ts#checked'),
      decision(
        'Which endpoint responds to a request in a framework?',
        'portico/src/mounts/fetch/dispatch.ts#MountedEndpoints.dispatch',
        'kit/src/dispatch.ts#Dispatcher.#handle',
      ),
    ],
  },
  {
    title: 'Keys and what is published',
    decisions: [
      decision(
        'Which key signs, and which are published?',
        'portico/src/keys/signing-key.ts#findSigningKey',
        'portico/src/keys/key-ring.ts#KeyRing',
        'portico/src/keys/key-states.ts#describeKeys',
      ),
      decision(
        'Which claims does a client get?',
        'portico/src/tokens/claims.ts#Claims',
        'portico/src/tokens/claims.ts#claimNames',
      ),
      decision(
        'Are two secret values equal? (compared in constant time)',
        'portico/src/http/constant-time.ts#equalInConstantTime',
      ),
    ],
  },
];
