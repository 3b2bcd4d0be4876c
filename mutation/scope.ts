/** What is mutated together, and the tests that are held against it: the short ones first, the long ones have fewer mutants left. */
export interface Area {
  /** Files and patterns of them, from the root. */
  readonly files: readonly string[];
  /** Only tests that run the server in their own process count: a mutant is switched on there. */
  readonly tests: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  grants: {
    files: [
      'src/oauth-server/grants/*.ts',
      'src/oauth-server/store/sql/families.ts',
      'src/oauth-server/store/sql/family-rows.ts',
      'src/oauth-server/store/sql/claim.ts',
      'src/oauth-server/store/sql/single-uses.ts',
      'src/oauth-server/store/grant.ts',
    ],
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
  clients: {
    files: [
      'src/oauth-server/clients/authentication.ts',
      'src/oauth-server/clients/credentials.ts',
      'src/oauth-server/clients/assertions.ts',
      'src/oauth-server/clients/secrets.ts',
    ],
    tests: [
      'test/token-endpoint.test.ts',
      'test/private-key-jwt.test.ts',
      'test/error-answers.test.ts',
      'test/failed-attempts.test.ts',
      'test/client-lifecycle.test.ts',
    ],
  },
  proofs: {
    files: ['src/jws/dpop-proof.ts'],
    tests: ['src/jws/dpop-proof.test.ts'],
  },
  metadata: {
    files: [
      'src/oauth-server/client-documents/document.ts',
      'src/oauth-server/client-documents/client-urls.ts',
      'src/oauth-server/clients/redirect-uris.ts',
    ],
    tests: [
      'src/oauth-server/client-documents/client-urls.test.ts',
      'src/oauth-server/clients/redirect-uris.test.ts',
      'test/client-document-content.test.ts',
      'test/client-documents.test.ts',
    ],
  },
  tokens: {
    files: [
      'src/oauth-server/tokens/bearer.ts',
      'src/oauth-server/tokens/resource-proofs.ts',
      'src/oauth-server/tokens/resource-indicators.ts',
      'src/oauth-server/tokens/token-accessor.ts',
      'src/oauth-server/tokens/token-formats.ts',
      'src/oauth-server/tokens/id-token.ts',
    ],
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
    files: ['src/oauth-server/authorization/consent.ts', 'src/oauth-server/authorization/waiting.ts'],
    tests: [
      'test/consent.test.ts',
      'test/consent-page.test.ts',
      'test/waiting-requests.test.ts',
      'test/authorization-request.test.ts',
      'test/applications.test.ts',
    ],
  },
};
