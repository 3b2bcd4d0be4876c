/** What is mutated together, and the tests that are held against it: the short ones first, the long ones have fewer mutants left. */
export interface Area {
  /** Files and patterns of them, from the root. */
  readonly files: readonly string[];
  /** Only tests that run the server in their own process count: a mutant is switched on there. */
  readonly tests: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  grants: {
    files: ['src/oauth-server/grants/*.ts', 'src/oauth-server/store/grant.ts'],
    tests: [
      'src/oauth-server/grants/unanswered.test.ts',
      'test/token-endpoint.test.ts',
      'test/refresh-retry.test.ts',
      'test/states-and-transitions.test.ts',
      'test/unanswered.test.ts',
      'test/revocation-and-introspection.test.ts',
      'test/openid-connect.test.ts',
      'test/dpop.test.ts',
      'test/client-update.test.ts',
    ],
  },
  families: {
    files: [
      'src/oauth-server/store/sql/families.ts',
      'src/oauth-server/store/sql/family-rows.ts',
      'src/oauth-server/store/sql/claim.ts',
      'src/oauth-server/store/sql/single-uses.ts',
      'src/oauth-server/store/sql/access-tokens.ts',
      'src/oauth-server/store/sql/kept-answers.ts',
      'src/oauth-server/store/sql/fence.ts',
      'src/oauth-server/store/sql/statements.ts',
      'src/oauth-server/store/store.ts',
      'src/oauth-server/store/held.ts',
      'src/oauth-server/store/lapsing.ts',
      'src/oauth-server/store/pruning.ts',
      'src/oauth-server/store/batches.ts',
      'src/oauth-server/store/fair-share.ts',
      'src/oauth-server/store/single-uses.ts',
    ],
    tests: [
      'src/oauth-server/store/pruning.test.ts',
      'test/token-endpoint.test.ts',
      'test/refresh-retry.test.ts',
      'test/states-and-transitions.test.ts',
      'test/unanswered.test.ts',
      'test/revocation-and-introspection.test.ts',
    ],
  },
  'stored-clients': {
    files: [
      'src/oauth-server/store/client.ts',
      'src/oauth-server/store/requests.ts',
      'src/oauth-server/store/sql/clients.ts',
      'src/oauth-server/store/sql/document-clients.ts',
      'src/oauth-server/store/sql/registrations.ts',
      'src/oauth-server/store/sql/consent-requests.ts',
      'src/oauth-server/store/sql/waiting-requests.ts',
      'src/oauth-server/store/sql/access.ts',
      'src/oauth-server/store/sql/audit.ts',
      'src/oauth-server/store/sql/counting.ts',
      'src/oauth-server/store/sql/cookie-keys.ts',
      'src/oauth-server/store/sql/logos.ts',
      'src/oauth-server/store/sql/restored.ts',
      'src/oauth-server/store/sql/subjects.ts',
    ],
    tests: ['test/client-lifecycle.test.ts', 'test/client-update.test.ts', 'test/waiting-requests.test.ts'],
  },
  clients: {
    files: [
      'src/oauth-server/clients/authentication.ts',
      'src/oauth-server/clients/credentials.ts',
      'src/oauth-server/clients/assertions.ts',
      'src/oauth-server/clients/secrets.ts',
      'src/oauth-server/clients/imported-secrets.ts',
      'src/oauth-server/clients/checking.ts',
      'src/oauth-server/clients/client-keys.ts',
      'src/oauth-server/clients/key-sets.ts',
      'src/oauth-server/clients/nobody.ts',
      'src/oauth-server/clients/who-asks.ts',
    ],
    tests: [
      'src/oauth-server/clients/imported-secrets.test.ts',
      'test/token-endpoint.test.ts',
      'test/private-key-jwt.test.ts',
      'test/error-answers.test.ts',
      'test/failed-attempts.test.ts',
      'test/client-lifecycle.test.ts',
    ],
  },
  proofs: {
    files: ['src/jws/*.ts', 'src/oauth-server/dpop/*.ts'],
    tests: [
      'src/jws/dpop-proof.test.ts',
      'test/dpop.test.ts',
      'test/resource-server-dpop.test.ts',
      'test/private-key-jwt.test.ts',
    ],
  },
  metadata: {
    files: [
      'src/oauth-server/client-documents/*.ts',
      'src/oauth-server/clients/redirect-uris.ts',
      'src/oauth-server/clients/client-metadata.ts',
      'src/oauth-server/clients/metadata.ts',
      'src/oauth-server/registering/asked-metadata.ts',
    ],
    tests: [
      'src/oauth-server/client-documents/client-urls.test.ts',
      'src/oauth-server/clients/redirect-uris.test.ts',
      'test/client-document-content.test.ts',
      'test/client-documents.test.ts',
    ],
  },
  tokens: {
    files: ['src/oauth-server/tokens/*.ts'],
    tests: [
      'test/token-accessor.test.ts',
      'test/openid-connect.test.ts',
      'test/revocation-and-introspection.test.ts',
      'test/bound-tokens.test.ts',
      'test/resource-server-dpop.test.ts',
      'test/dpop.test.ts',
    ],
  },
  consent: {
    files: [
      'src/oauth-server/authorization/consent.ts',
      'src/oauth-server/authorization/consent-errors.ts',
      'src/oauth-server/authorization/consent-page.ts',
      'src/oauth-server/authorization/granted-before.ts',
      'src/oauth-server/authorization/waiting.ts',
      'src/oauth-server/authorization/waiting-for.ts',
    ],
    tests: [
      'test/consent.test.ts',
      'test/consent-page.test.ts',
      'test/waiting-requests.test.ts',
      'test/authorization-request.test.ts',
      'test/applications.test.ts',
    ],
  },
};
