/**
 * A topic of the sidebar. It lists pages by their paths in the repository. `docs/moving/*.md`
 * stands for all pages of a folder.
 */
export interface Topic {
  readonly title: string;
  readonly pages: readonly string[];
}

/**
 * Every page of the site, by topic. Decisions and the pages of the API have their own sidebars.
 * test/site.test.ts fails if a page of `docs/` is in no topic, or if a listed page does not exist.
 */
export const TOPICS: readonly Topic[] = [
  {
    title: 'Begin',
    pages: [
      'docs/getting-started.md',
      'docs/first-sign-in.md',
      'README.md',
      'docs/application-file.md',
      'docs/configuration.md',
      'docs/console.md',
      'docs/pages.md',
      'docs/consent-page.md',
      'docs/sign-in-page.md',
      'docs/own-views.md',
      'docs/comparison.md',
    ],
  },
  {
    title: 'Concepts',
    pages: [
      'docs/concepts/what-oauth-is.md',
      'docs/concepts/consent.md',
      'docs/concepts/tokens.md',
      'docs/concepts/sessions.md',
      'docs/concepts/glossary.md',
    ],
  },
  {
    title: 'In your stack',
    pages: [
      'docs/host-contract.md',
      'docs/csrf.md',
      'docs/without-the-kit.md',
      'docs/extending.md',
      'docs/extension-points.md',
      'docs/own-grant.md',
      'docs/own-tables.md',
      'docs/own-messages.md',
      'examples/README.md',
      'docs/mounting/*.md',
    ],
  },
  { title: 'Databases', pages: ['docs/databases.md', 'docs/databases/*.md'] },
  {
    title: 'APIs and clients',
    pages: [
      'docs/protecting-an-api.md',
      'docs/several-apis.md',
      'docs/api-in-another-process.md',
      'docs/bound-tokens.md',
      'docs/why-an-api-refuses.md',
      'docs/two-kinds-of-token.md',
      'docs/connecting-clients.md',
      'docs/signing-in-on-a-device.md',
      'docs/enterprise-managed-authorization.md',
      'docs/workload-identity.md',
      'docs/client-libraries.md',
      'docs/authenticating-again.md',
      'docs/signing-out.md',
      'docs/first-party-clients.md',
      'docs/own-claims.md',
      'docs/requests.md',
      'docs/openapi.md',
      'docs/security-profile.md',
    ],
  },
  {
    title: 'Assistants',
    pages: [
      'docs/mcp.md',
      'docs/mcp-resources.md',
      'docs/several-mcp-endpoints.md',
      'docs/chatgpt-and-directories.md',
      'docs/connecting-assistants.md',
      'docs/when-an-assistant-does-not-connect.md',
      'docs/developing-with-assistants.md',
      'docs/voice-assistant.md',
      'docs/when-a-voice-assistant-does-not-work.md',
    ],
  },
  {
    title: 'Hosts',
    pages: [
      'docs/connecting/README.md',
      'docs/connecting/claude.md',
      'docs/connecting/claude-code.md',
      'docs/connecting/chatgpt.md',
      'docs/connecting/vs-code.md',
      'docs/connecting/cursor.md',
      'docs/connecting/codex.md',
      'docs/connecting/opencode.md',
      'docs/connecting/gemini-cli.md',
      'docs/connecting/gemini-enterprise.md',
      'docs/connecting/microsoft-365-copilot.md',
      'docs/connecting/copilot-studio.md',
      'docs/connecting/alexa.md',
      'docs/connecting/mcp-remote.md',
    ],
  },
  {
    title: 'Products',
    pages: [
      'docs/connecting/products.md',
      'docs/connecting/oauth2-proxy.md',
      'docs/connecting/mod-auth-openidc.md',
      'docs/connecting/grafana.md',
      'docs/connecting/gitlab.md',
      'docs/connecting/nextcloud.md',
      'docs/connecting/aspnet.md',
      'docs/connecting/mozilla-django-oidc.md',
      'docs/connecting/authjs.md',
    ],
  },
  {
    title: 'Deploy',
    pages: [
      'docs/deploy/*.md',
      'examples/deploy/README.md',
      'docs/running-on-several-machines.md',
      'docs/keys-on-several-machines.md',
      'docs/when-a-database-server-fails.md',
      'docs/several-regions.md',
      'docs/health-and-logs.md',
      'docs/telemetry.md',
      'examples/operate/README.md',
      'docs/backup.md',
      'docs/restore.md',
      'docs/upgrade.md',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'docs/operating.md',
      'docs/troubleshooting.md',
      'docs/audit.md',
      'docs/access.md',
      'docs/keys.md',
      'docs/key-signer.md',
      'examples/key-signer-pkcs11/README.md',
      'docs/administration.md',
    ],
  },
  {
    title: 'Security',
    pages: [
      'docs/security-model.md',
      'docs/your-part-in-security.md',
      'docs/threat-model.md',
      'docs/assurance.md',
      'docs/audit-guide.md',
      'docs/mutation.md',
      'docs/coverage.md',
      'docs/verifying-a-release.md',
      'docs/generated/dependencies.md',
      'SECURITY.md',
    ],
  },
  { title: 'Moving here', pages: ['docs/moving/*.md'] },
  {
    title: 'Reference',
    pages: [
      'packages/*/README.md',
      'reference/index.md',
      'docs/specification.md',
      'docs/standards.md',
      'docs/generated/program-messages.md',
      'docs/generated/messages.md',
      'docs/generated/conformance.md',
      'tools/bench/RESULTS.md',
      'tools/bench/README.md',
    ],
  },
  {
    title: 'The project',
    pages: [
      'docs/policy.md',
      'ARCHITECTURE.md',
      'decisions/index.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
    ],
  },
];

/** The titles for the sidebar of pages whose heading is too long for it. */
export const SHORT_TITLES: Readonly<Record<string, string>> = {
  'docs/generated/program-messages.md': 'Messages for operators',
  'docs/generated/messages.md': 'Messages of the pages',
  'README.md': 'Overview',
  'docs/application-file.md': 'The application file',
  'docs/mounting/jwt.md': 'A login that is a JWT',
  'docs/mounting/node.md': 'node:http',
  'docs/connecting/README.md': 'All hosts',
  'docs/connecting/products.md': 'All products',
  'docs/mounting/README.md': 'Choose your framework',
  'tools/bench/RESULTS.md': 'Benchmarks',
  'tools/bench/README.md': 'How it is measured',
  'examples/deploy/README.md': 'Files to deploy with',
  'examples/operate/README.md': 'Dashboard and alerts',
  'examples/key-signer-pkcs11/README.md': 'A key in PKCS#11',
  'SECURITY.md': 'Report a weakness',
};
