/** The documentation page for each part of the report. */
const SECTIONS: Readonly<Record<string, string>> = {
  configuration: 'docs/configuration.md',
  messages: 'docs/pages.md#words-of-your-own',
  store: 'docs/troubleshooting.md#the-database-cannot-be-reached',
  schema: 'docs/troubleshooting.md#the-schema-is-behind',
  'OAuth tables': 'docs/troubleshooting.md#the-schema-is-behind',
  durability: 'docs/running-on-several-machines.md#which-databases',
  'database file': 'docs/troubleshooting.md#the-disk-is-full',
  replication: 'docs/troubleshooting.md#the-database-takes-no-writes',
  connections: 'docs/troubleshooting.md#the-database-cannot-be-reached',
  tables: 'docs/running-on-several-machines.md#galera',
  'table access': 'docs/troubleshooting.md#the-database-refuses-the-connection',
  'key rotation': 'docs/keys.md',
  'signing key': 'docs/troubleshooting.md#signing-keys-are-gone',
  'sign-in route': 'docs/troubleshooting.md#people-are-asked-to-sign-in-again-and-again',
  endpoints: 'docs/troubleshooting.md#a-path-leads-to-no-endpoint',
  csrf_exempt_routes: 'docs/configuration.md',
  outbox: 'docs/operating.md#porticooutboxundelivered',
  administration: 'docs/administration.md',
  views: 'docs/troubleshooting.md#a-page-cannot-be-shown',
  'password hasher': 'docs/host-contract.md#members',
  clients: 'docs/configuration.md',
  'other clients': 'docs/configuration.md',
  'client keys': 'docs/troubleshooting.md#a-clients-keys-cannot-be-had',
  'published client keys': 'docs/troubleshooting.md#a-clients-keys-cannot-be-had',
  workloads: 'docs/workload-identity.md',
  'client demands': 'docs/connecting-clients.md',
  'imported secrets': 'docs/moving/README.md',
  registration: 'docs/connecting-assistants.md',
  documents: 'docs/connecting-assistants.md',
  resource: 'docs/connecting-assistants.md',
  'public resource': 'docs/connecting-assistants.md',
  profile: 'docs/security-profile.md',
  'public address': 'docs/troubleshooting.md#a-path-leads-to-no-endpoint',
  'in front of base_path': 'docs/troubleshooting.md#a-path-leads-to-no-endpoint',
  'public key set': 'docs/troubleshooting.md#signing-keys-are-gone',
  readiness: 'docs/health-and-logs.md#probes',
  proxies: 'docs/troubleshooting.md#everybody-has-the-address-of-the-proxy',
  discovery: 'docs/voice-assistant.md',
  authentication: 'docs/voice-assistant.md',
  'service client': 'docs/voice-assistant.md',
  'account-linking client': 'docs/voice-assistant.md',
  'tool scopes': 'docs/voice-assistant.md',
  'account linking': 'docs/voice-assistant.md',
  listing: 'docs/voice-assistant.md',
  'directory claude': 'docs/chatgpt-and-directories.md',
  'directory chatgpt': 'docs/chatgpt-and-directories.md',
};

/**
 * Returns the documentation page about a part of the report, as in the table in
 * docs/troubleshooting.md. Returns null if there is no page about this part.
 */
export function findSection(part: string): string | null {
  return SECTIONS[part] ?? null;
}
