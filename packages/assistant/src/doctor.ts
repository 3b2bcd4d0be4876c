import { examineDiscovery, type Findings, type Subject } from './discovery-checks.ts';
import { mcpServerOf, SERVICE_SCOPE } from '@portico/mcp';
import { pendingSteps } from '@portico/sql';
import { type Application, authorizationServerOf, type Check, type Finding } from 'portico';
import { check, failing, isHealthy, livingClients, ok, skipped, warning } from 'portico/extension';
import {
  differenceRemedy,
  findClients,
  playsRole,
  wantedClients,
  type FoundClient,
} from './clients.ts';
import type { AssistantConfig } from './config.ts';
import { examineDirectory, type DirectoryName } from './directories.ts';
import { listingProblems } from './listing.ts';
import { assistantConfig } from './setup.ts';

/** The report that `assistant:doctor` prints with `--json`. */
export interface AssistantReport {
  /** Whether no check has failed. A warning does not count as a failure. */
  readonly healthy: boolean;
  /** All checks, in the order in which they ran. Each examined part has at least one check. */
  readonly checks: readonly Check[];
}

type Examination = (subject: Subject) => Promise<Findings> | Findings;

/**
 * Checks everything that an assistant needs, and changes nothing. Sends requests directly to the
 * application, so it cannot check the network between the vendor and this server. Skips the listing
 * if `serverOnly` is true. Also checks the tools against the rules of each directory in
 * `directories`. Throws if the application does not use the plugins `oauthServer()` and `mcp()`.
 *
 * @example
 * const { healthy, checks } = await examineAssistant(application, { serverOnly: true });
 */
export async function examineAssistant(
  application: Application,
  {
    serverOnly,
    directories = [],
  }: { readonly serverOnly: boolean; readonly directories?: readonly DirectoryName[] },
): Promise<AssistantReport> {
  const subject: Subject = {
    application,
    server: authorizationServerOf(application),
    mcp: mcpServerOf(application),
    config: assistantConfig(application),
  };
  const checks: Check[] = [];
  for (const [part, examine] of EXAMINATIONS) {
    checks.push(...(await check(application.log, part, () => examine(subject))));
  }
  const listing = serverOnly
    ? [skipped('not checked: --server-only is set')]
    : examineListing(subject.config);
  checks.push(...listing.map((finding) => ({ part: 'listing', ...finding })));
  const tools = subject.mcp.tools.all();
  for (const name of directories) {
    const findings = examineDirectory(name, tools);
    checks.push(...findings.map((finding) => ({ part: `directory ${name}`, ...finding })));
  }
  return { healthy: isHealthy(checks), checks };
}

const EXAMINATIONS: readonly (readonly [part: string, Examination])[] = [
  ['configuration', examineConfiguration],
  ['OAuth tables', examineSchema],
  ['discovery', examineDiscovery],
  ['authentication', examineRefusal],
  ['clients', examineClients],
  ['tool scopes', examineTools],
];

function examineConfiguration({ application, mcp, config }: Subject): Findings {
  const exempt = application.config['csrf_exempt_routes'] as Readonly<Record<string, boolean>>;
  const mode = mcp.config.transport.streaming ? 'event streams' : 'JSON';
  const exemption =
    exempt['mcp_server_rpc'] === true
      ? ok('the route mcp_server_rpc is exempt from the CSRF check')
      : failing(
          "the application's CSRF check blocks assistants' requests to the route mcp_server_rpc",
          'remove mcp_server_rpc: false from csrf_exempt_routes',
        );
  const linking = config.account_linking
    ? ok(`callback URIs: ${config.redirect_uris.join(', ')}`)
    : skipped('assistant:account_linking is false');
  return [
    ok(`the URL of the MCP endpoint is ${mcp.resource}; it sends responses as ${mode}`),
    { part: 'csrf_exempt_routes', ...exemption },
    { part: 'account linking', ...linking },
  ];
}

async function examineSchema({ application }: Subject): Promise<Findings> {
  const pending = pendingSteps(await application.migrations(), 'oauth_server_');
  return pending.length === 0
    ? [ok('all migrations are applied')]
    : [
        failing(
          `missing migrations: ${pending.join(', ')}`,
          'run npx portico assistant:setup --migrate, or npx portico db:migrate up',
        ),
      ];
}

async function examineRefusal({ application, server, mcp }: Subject): Promise<Findings> {
  const response = await application.fetch(
    new Request(`${server.origin}${server.mountPath}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    }),
  );
  const challenged = response.headers.has('www-authenticate');
  if (response.status === 401 && !challenged) {
    return [ok('a request without a token gets 401 without a WWW-Authenticate header')];
  }
  if (response.status === 401 && mcp.config.oauth.challenge) {
    return [
      warning(
        'a request without a token gets 401 with a WWW-Authenticate header, which the ' +
          "vendor's toolkit does not accept",
        'if the assistant does not connect, set mcp:oauth:challenge to false',
      ),
    ];
  }
  return [
    failing(
      'a request without a token gets ' +
        `${response.status}${challenged ? ' with a WWW-Authenticate header' : ''} instead of a ` +
        'plain 401',
      'find out which route or hook of the application sends this response',
    ),
  ];
}

/**
 * Checks that each of the assistant's clients is registered and matches the configuration. Also
 * reports every other client that can use the tools.
 */
async function examineClients(subject: Subject): Promise<Findings> {
  const { application, server, config } = subject;
  if (pendingSteps(await application.migrations(), 'oauth_server_').length > 0) {
    return [
      skipped('not checked: database migrations are missing. See the finding "OAuth tables"'),
    ];
  }
  const clients = await findClients(server, config);
  const findings = clients.map((found) => ({
    part: `${found.wanted.role} client`,
    ...examineClient(found),
  }));
  return [...findings, ...(await examineOthers(subject, clients))];
}

function examineClient(found: FoundClient): Finding {
  const { client, wanted, differences } = found;
  if (client === null)
    return failing('the client is not registered', 'run npx portico assistant:setup');
  if (differences.length > 0) {
    return failing(
      `${client.id} differs from the configuration: ${differences.join('; ')}`,
      differenceRemedy(client),
    );
  }
  return ok(`${client.id} matches the configuration; its grants: ${wanted.grants.join(', ')}`);
}

/** Reports every other client that has one of the resource's scopes. */
async function examineOthers(
  { server, mcp, config }: Subject,
  known: readonly FoundClient[],
): Promise<readonly Check[]> {
  const ids = new Set(known.map(({ client }) => client?.id));
  const scopes = new Set([
    SERVICE_SCOPE,
    ...mcp.config.oauth.scopes_supported,
    ...config.user_scopes,
    ...mcp.guarded().flatMap(({ scope }) => scope ?? []),
  ]);
  const roles = wantedClients(server, { ...config, account_linking: true });
  const holding = await livingClients(
    server,
    (client) => !ids.has(client.id) && client.scopes.some((scope) => scopes.has(scope)),
  );
  return holding.flatMap((client): readonly Check[] => {
    const held = client.scopes.filter((scope) => scopes.has(scope));
    const role = roles.find((wanted) => playsRole(client, wanted))?.role;
    const holds =
      `the client ${client.id} (${client.name}) is registered for the scope ` +
      held.join(' and the scope ');
    const end = `npx portico oauth:client:revoke ${client.id}`;
    if (role === undefined) {
      const remedy = `if this client must not call these tools, run ${end}`;
      return [{ part: 'other clients', ...warning(holds, remedy) }];
    }
    const finding =
      role === 'account-linking' && !config.account_linking
        ? failing(
            `${holds}, but assistant:account_linking is false`,
            `run ${end}, or set assistant:account_linking to true`,
          )
        : failing(
            `${holds}. Another client has the same role, but only one of them should have it`,
            `if the vendor does not use this client, run ${end}. If the vendor uses this client, ` +
              'revoke the other client',
          );
    return [{ part: `${role} client`, ...finding }];
  });
}

function examineTools({ mcp, config }: Subject): Findings {
  const tools = mcp.tools.all();
  if (tools.length === 0) {
    return [failing('no tool is registered', 'call tool().register(…) in register()')];
  }
  const personal = tools.filter((tool) => tool.personal);
  const publicCount = tools.length - personal.length;
  const unreachable = personal.filter(
    ({ scope }) => scope !== null && !config.user_scopes.includes(scope),
  );
  const findings = [
    unreachable.length === 0
      ? ok(`tools: ${publicCount} public (${SERVICE_SCOPE}), ${personal.length} personal`)
      : failing(
          unreachable.map(({ name, scope }) => `${name} needs ${scope}`).join(', '),
          'add the scope to assistant:user_scopes and mcp:oauth:scopes_supported',
        ),
  ];
  if (personal.length > 0 && !config.account_linking) {
    findings.push(
      warning(
        `no one can call ${personal.map(({ name }) => name).join(', ')}, because account ` +
          'linking is off',
        'set assistant:account_linking and assistant:redirect_uris',
      ),
    );
  }
  return findings;
}

function examineListing({ listing }: AssistantConfig): readonly Finding[] {
  const problems = listingProblems(listing);
  if (problems.length === 0) return [ok('is complete')];
  return problems.map(({ key, message }) => failing(key, message));
}
