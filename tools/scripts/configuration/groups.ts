/**
 * The keys of the configuration, grouped by questions. A key belongs to the group that names it, or
 * to the group that names the nearest key above it.
 */
export interface Group {
  readonly question: string;
  readonly says?: string;
  readonly keys: readonly string[];
}

export const GROUPS: readonly Group[] = [
  {
    question: 'Where is it reached?',
    keys: [
      'public_url',
      'base_path',
      'base_path_stripped',
      'trusted_proxies',
      'body_limit',
      'oauth_server:routes',
      'oauth_server:health',
      'oauth_server:openapi',
    ],
  },
  {
    question: 'What do people see?',
    keys: [
      'name',
      'oauth_server:name',
      'oauth_server:branding',
      'oauth_server:languages',
      'branding',
      'languages',
    ],
  },
  {
    question: 'How do people sign in, and what is said of them?',
    keys: [
      'oauth_server:login_route',
      'sign_in_scripts',
      'sign_in_show_password',
      'sign_in_links',
      'session_ttl',
      'csrf_exempt_routes',
      'oauth_server:claims',
    ],
  },
  {
    question: 'What are tokens for, and how is one refused?',
    keys: [
      'oauth_server:scopes',
      'oauth_server:unknown_scopes',
      'oauth_server:audience',
      'oauth_server:resources',
      'oauth_server:challenge',
    ],
  },
  {
    question: 'How long does what live?',
    says: 'A lifetime is at least a second, and at most a century.',
    keys: [
      'oauth_server:access_token_ttl',
      'oauth_server:refresh_token_ttl',
      'oauth_server:refresh_retry_seconds',
      'oauth_server:id_token_ttl',
      'oauth_server:code_ttl',
      'oauth_server:consent_ttl',
    ],
  },
  {
    question: 'How do clients come, and how do they prove themselves?',
    keys: [
      'oauth_server:registration',
      'oauth_server:client_id_metadata_documents',
      'oauth_server:private_key_jwt',
      'oauth_server:imported_pbkdf2_iterations',
      'oauth_server:pushed_authorization_requests',
      'oauth_server:form_post',
      'oauth_server:reauthentication',
      'oauth_server:acr_values',
      'oauth_server:device_authorization',
      'oauth_server:jwt_bearer_grant',
      'oauth_server:trusted_issuers',
      'oauth_server:workload_identity',
      'oauth_server:dpop',
      'oauth_server:dpop_nonces',
      'oauth_server:profile',
    ],
  },
  {
    question: 'Where is it kept?',
    keys: [
      'database_url',
      'database_schema',
      'database_pool_size',
      'database_connection_lifetime',
      'database_statement_timeout',
      'oauth_server:key_path',
    ],
  },
  {
    question: 'Who watches over it, and what is written down?',
    keys: ['log', 'oauth_server:audit', 'oauth_server:admin_permission'],
  },
  { question: 'Tools for assistants: `mcp()`', keys: ['mcp'] },
  { question: 'A voice assistant: `assistant()`', keys: ['assistant'] },
  { question: 'What else is there?', keys: [''] },
];

/** The page that explains more about a key and the keys below it. */
export const PAGES: Readonly<Record<string, string>> = {
  base_path: '#a-base-path',
  csrf_exempt_routes: 'host-contract.md#sessions',
  database_schema: 'databases.md',
  database_url: 'databases.md',
  database_pool_size: 'databases.md',
  log: 'health-and-logs.md',
  trusted_proxies: 'troubleshooting.md#everybody-has-the-address-of-the-proxy',
  'oauth_server:scopes': 'protecting-an-api.md',
  'oauth_server:languages': 'pages.md#languages',
  'oauth_server:claims': '#claims',
  'oauth_server:challenge': 'protecting-an-api.md',
  'oauth_server:refresh_retry_seconds': '#refreshing-twice',
  'oauth_server:key_path': 'keys.md',
  'oauth_server:health': 'health-and-logs.md',
  'oauth_server:audit': 'audit.md',
  'oauth_server:admin_permission': 'administration.md',
  'oauth_server:private_key_jwt': 'connecting-clients.md',
  'oauth_server:workload_identity': 'workload-identity.md',
  'oauth_server:imported_pbkdf2_iterations': 'moving/README.md',
  'oauth_server:pushed_authorization_requests': 'connecting-clients.md',
  'oauth_server:reauthentication': 'authenticating-again.md',
  'oauth_server:acr_values': 'authenticating-again.md#levels-of-assurance',
  'oauth_server:dpop': '#tokens-that-are-bound-to-a-key',
  'oauth_server:dpop_nonces': 'decisions/0042-bound-tokens.md',
  'oauth_server:profile': 'security-profile.md',
  'oauth_server:registration': 'connecting-assistants.md',
  'oauth_server:client_id_metadata_documents': 'connecting-assistants.md',
  branding: 'pages.md#branding',
  'oauth_server:branding': 'pages.md#branding',
  sign_in_scripts: 'pages.md#slots',
  sign_in_show_password: 'sign-in-page.md#show-password-and-links',
  sign_in_links: 'sign-in-page.md#show-password-and-links',
  mcp: 'mcp.md',
  'mcp:security_schemes': 'chatgpt-and-directories.md',
  assistant: 'voice-assistant.md',
};
