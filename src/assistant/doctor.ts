import type { Application } from '../host/contracts.ts';
import { mcpServerOf, SERVICE_SCOPE, type McpServer } from '../mcp/index.ts';
import {
  authorizationServerOf,
  type AuthorizationServer,
  type Check,
  type Finding,
} from '../oauth-server/index.ts';
import {
  findClients,
  livingClients,
  playsRole,
  reviewOf,
  wantedClients,
  type FoundClient,
} from './clients.ts';
import type { AssistantConfig } from './config.ts';
import { listingProblems } from './listing.ts';
import { assistantConfigOf } from './setup.ts';

/** What `assistant:doctor` prints with `--json`. */
export interface AssistantReport {
  /** False when a check fails. */
  readonly healthy: boolean;
  /** One or more for each part, in the order in which they were looked at. */
  readonly checks: readonly Check[];
}

interface Subject {
  readonly application: Application;
  readonly server: AuthorizationServer;
  readonly mcp: McpServer;
  readonly config: AssistantConfig;
}

type Examination = (subject: Subject) => Promise<readonly Check[]> | readonly Check[];

const ok = (part: string, detail: string): Check => ({ part, outcome: 'ok', detail, remedy: null });
const skipped = (part: string, detail: string): Check => ({ part, outcome: 'skipped', detail, remedy: null });
const failing = (part: string, detail: string, remedy: string): Check => ({
  part,
  outcome: 'failing',
  detail,
  remedy,
});

/**
 * Looks at what an assistant will rely on, by requests to the application itself where that shows it. It changes nothing,
 * and knows nothing of the network between the vendor and here. Without the listing when `serverOnly`.
 */
export async function examineAssistant(
  application: Application,
  { serverOnly }: { readonly serverOnly: boolean },
): Promise<AssistantReport> {
  const subject: Subject = {
    application,
    server: authorizationServerOf(application),
    mcp: mcpServerOf(application),
    config: assistantConfigOf(application),
  };
  const checks: Check[] = [];
  for (const [part, examine] of EXAMINATIONS) checks.push(...(await look(subject, part, examine)));
  checks.push(
    ...(serverOnly ? [skipped('listing', '--server-only leaves it out')] : examineListing(subject.config)),
  );
  return { healthy: checks.every(({ outcome }) => outcome !== 'failing'), checks };
}

const EXAMINATIONS: readonly (readonly [part: string, Examination])[] = [
  ['configuration', examineConfiguration],
  ['OAuth tables', examineSchema],
  ['discovery', examineDiscovery],
  ['authentication', examineRefusal],
  ['clients', examineClients],
  ['tool scopes', examineTools],
];

async function look(subject: Subject, part: string, examine: Examination): Promise<readonly Check[]> {
  try {
    return await examine(subject);
  } catch (exception) {
    subject.application.log.error('The doctor could not look at {part}: {exception}', { part, exception });
    const message = exception instanceof Error ? exception.message : String(exception);
    return [failing(part, message, 'see the log for the details')];
  }
}

function examineConfiguration({ application, mcp, config }: Subject): readonly Check[] {
  const exempt = application.config['csrf_exempt_routes'] as Readonly<Record<string, boolean>>;
  const mode = mcp.config.transport.streaming ? 'event streams' : 'JSON';
  return [
    ok('configuration', `the canonical resource is ${mcp.resource}, answers come as ${mode}`),
    exempt['mcp_server_rpc'] === true
      ? ok('csrf_exempt_routes', 'mcp_server_rpc is exempt')
      : failing(
          'csrf_exempt_routes',
          'the session-wide check refuses what assistants send to mcp_server_rpc',
          'take the entry set to false out of csrf_exempt_routes',
        ),
    config.account_linking
      ? ok('account linking', `callback URIs: ${config.redirect_uris.join(', ')}`)
      : skipped('account linking', 'assistant:account_linking is false'),
  ];
}

async function examineSchema({ application }: Subject): Promise<readonly Check[]> {
  const missing = (await application.migrations()).filter(
    ({ name, appliedAt }) => name.startsWith('oauth_server_') && appliedAt === null,
  );
  return missing.length === 0
    ? [ok('OAuth tables', 'every step is applied')]
    : [
        failing(
          'OAuth tables',
          `not applied: ${missing.map(({ name }) => name).join(', ')}`,
          'run npx portico assistant:setup --migrate, or db:migrate up',
        ),
      ];
}

/** The three documents that an assistant starts from, as it would ask for them. */
async function examineDiscovery(subject: Subject): Promise<readonly Check[]> {
  const { server, mcp } = subject;
  const checks: Check[] = [];
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const document = await documentAt(subject, path);
    const right =
      document['resource'] === mcp.resource &&
      JSON.stringify(document['authorization_servers']) === JSON.stringify([server.issuer]);
    checks.push(
      right
        ? ok('discovery', `${path} names the resource and its authorization server`)
        : failing('discovery', `${path} does not name ${mcp.resource}`, ROUTE_REMEDY),
    );
  }
  const path = '/.well-known/oauth-authorization-server';
  const metadata = await documentAt(subject, path);
  const lacking = [
    ...lackingIn(metadata, 'grant_types_supported', [
      'client_credentials',
      'authorization_code',
      'refresh_token',
    ]),
    ...lackingIn(metadata, 'code_challenge_methods_supported', ['S256']),
    ...(metadata['issuer'] === server.issuer ? [] : ['the issuer']),
  ];
  checks.push(
    lacking.length === 0
      ? ok('discovery', `${path} offers what assistants need`)
      : failing('discovery', `${path} lacks ${lacking.join(', ')}`, ROUTE_REMEDY),
  );
  return checks;
}

const ROUTE_REMEDY =
  'see that oauth_server:routes is true and that no route or hook of the application stands in its place';

function lackingIn(
  document: Readonly<Record<string, unknown>>,
  key: string,
  needed: readonly string[],
): readonly string[] {
  const offered = document[key];
  return needed.filter((value) => !Array.isArray(offered) || !offered.includes(value));
}

async function documentAt(
  { application, server }: Subject,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await application.fetch(new Request(`${server.issuer}${path}`));
  if (response.status !== 200) return {};
  return (await response.json()) as Record<string, unknown>;
}

async function examineRefusal({ application, mcp }: Subject): Promise<readonly Check[]> {
  const response = await application.fetch(
    new Request(mcp.resource, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    }),
  );
  const challenged = response.headers.has('www-authenticate');
  if (response.status === 401 && !challenged) {
    return [ok('authentication', 'a request without a token is answered 401, without WWW-Authenticate')];
  }
  return [
    failing(
      'authentication',
      `a request without a token is answered ${response.status}${challenged ? ' with WWW-Authenticate' : ''}`,
      'look for a route or a hook of the application that answers in its place',
    ),
  ];
}

/**
 * Credentials stay separate: each client has its own grants and scopes, and neither has the other's. Whoever else can reach the
 * tools is named.
 */
async function examineClients(subject: Subject): Promise<readonly Check[]> {
  const { application, server, config } = subject;
  const steps = await application.migrations();
  if (steps.some(({ name, appliedAt }) => name.startsWith('oauth_server_') && appliedAt === null)) {
    return [skipped('clients', 'the OAuth tables are not there')];
  }
  const clients = await findClients(server, config);
  const checks = clients.map((found) => {
    const part = `${found.wanted.role} client`;
    if (found.client === null) {
      return failing(part, 'is not registered', 'run npx portico assistant:setup');
    }
    if (found.differences.length > 0) {
      return failing(part, `${found.client.id} differs in ${found.differences.join('; ')}`, reviewOf(found));
    }
    return ok(part, `${found.client.id} has ${found.wanted.grants.join(', ')} and nothing else`);
  });
  return [...checks, ...(await examineOthers(subject, clients))];
}

/** The other clients that hold a scope of the resource. */
async function examineOthers(
  { server, mcp, config }: Subject,
  known: readonly FoundClient[],
): Promise<readonly Check[]> {
  const ids = new Set(known.map(({ client }) => client?.id));
  const scopes = new Set([
    SERVICE_SCOPE,
    ...mcp.config.oauth.scopes_supported,
    ...config.user_scopes,
    ...mcp.tools.all().flatMap(({ scope }) => scope ?? []),
  ]);
  const roles = wantedClients(server, { ...config, account_linking: true });
  return (await livingClients(server))
    .filter(({ id }) => !ids.has(id))
    .flatMap((client) => {
      const held = client.scopes.filter((scope) => scopes.has(scope));
      if (held.length === 0) return [];
      const role = roles.find((wanted) => playsRole(client, wanted))?.role;
      const holds = `${client.id} (${client.name}) holds ${held.join(', ')}`;
      const end = `npx portico oauth:client:revoke ${client.id}`;
      if (role === undefined) {
        const remedy = `if it is not meant to call these tools, end it with ${end}`;
        return [{ part: 'other clients', outcome: 'warning', detail: holds, remedy } as const];
      }
      const part = `${role} client`;
      return role === 'account-linking' && !config.account_linking
        ? [
            failing(
              part,
              `${holds} while assistant:account_linking is false`,
              `end it with ${end}, or switch it on`,
            ),
          ]
        : [
            failing(
              part,
              `${holds} as well: there is more than one`,
              `end the one that the vendor does not use: ${end}`,
            ),
          ];
    });
}

function examineTools({ mcp, config }: Subject): readonly Check[] {
  const tools = mcp.tools.all();
  if (tools.length === 0) {
    return [failing('tool scopes', 'no tool is registered', 'call tool().register(…) in register()')];
  }
  const personal = tools.filter((tool) => tool.personal);
  const publicCount = tools.length - personal.length;
  const unreachable = personal.filter(({ scope }) => scope !== null && !config.user_scopes.includes(scope));
  const unlinked = personal.length > 0 && !config.account_linking;
  const findings: Check[] = [
    unreachable.length === 0
      ? ok('tool scopes', `${publicCount} public (${SERVICE_SCOPE}), ${personal.length} personal`)
      : failing(
          'tool scopes',
          unreachable.map(({ name, scope }) => `${name} needs ${scope}`).join(', '),
          'add the scope to assistant:user_scopes and mcp:oauth:scopes_supported',
        ),
  ];
  if (unlinked) {
    const finding: Finding = {
      outcome: 'warning',
      detail: `nobody can call ${personal.map(({ name }) => name).join(', ')}: accounts cannot be linked`,
      remedy: 'set assistant:account_linking and assistant:redirect_uris',
    };
    findings.push({ part: 'tool scopes', ...finding });
  }
  return findings;
}

function examineListing({ listing }: AssistantConfig): readonly Check[] {
  const problems = listingProblems(listing);
  if (problems.length === 0) return [ok('listing', 'is complete')];
  return problems.map(({ key, message }) => failing('listing', key, message));
}
