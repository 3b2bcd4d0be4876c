// Why the tests take fewer than 95 % of the branches of a file.
import path from 'node:path';

const FALLBACKS =
  'Values that the compiler asks for or rules out, such as `?? null` after an index that exists. No request takes them.';

const FAULTS =
  'Faults of Node, a driver or Portico: an error of a class that the code does not know, or a thrown value that is not an error.';

const SECOND =
  'Second checks. An earlier check refuses the same input, so these pass only after a mistake in it.';

const WORDS =
  'Words of a console line, a page or an error: an empty list, a plural, a detail. They decide nothing.';

const OPTIONS = 'Combinations of options, hosts and plugins that no test uses.';

const MOMENTS =
  'Moments: another process changes the same row, or the caller leaves, between two statements.';

const LARGE = 'Limits that only very long input or very many rows reach.';

const ENDED = 'Processes that a test ends. They write no result.';

const DRIVERS =
  'Other versions of a driver. Their tests run a copy of the package in another folder, which does not count.';

const SERVERS = 'Database servers with other settings or of another version.';

const PLATFORMS = 'Another platform, or another user of the operating system.';

/** The reasons, by a pattern for the paths of files. The first pattern that matches is used. */
export const REASONS: Readonly<Record<string, string>> = {
  'packages/admin/src/{formatting,html}.ts': FALLBACKS,
  'packages/admin/src/notices.ts': OPTIONS,
  'packages/admin/src/pages/client.ts': all(FALLBACKS, MOMENTS),
  'packages/admin/src/pages/keys.ts': all(FALLBACKS, FAULTS, OPTIONS),
  'packages/admin/src/pages/updating.ts': WORDS,
  'packages/assistant/src/commands/assistant-doctor.ts': FAULTS,
  'packages/create-portico/src/commands.ts': all(FALLBACKS, FAULTS, PLATFORMS),
  'packages/import/src/import-file.ts': LARGE,
  'packages/import/src/subject-import.ts': all(FALLBACKS, WORDS),
  'packages/kit/src/accounts/known-browsers.ts': all(FALLBACKS, MOMENTS),
  'packages/kit/src/accounts/prefetched-permissions.ts': OPTIONS,
  'packages/kit/src/commands/serve.ts': all(FALLBACKS, FAULTS, OPTIONS),
  'packages/kit/src/commands/workers.ts': all(MOMENTS, ENDED),
  'packages/kit/src/http/server.ts': all(FALLBACKS, FAULTS),
  'packages/mcp/src/config.ts': WORDS,
  'packages/mcp/src/mcp-server.ts': OPTIONS,
  'packages/mcp/src/plugin.ts': all(FAULTS, OPTIONS),
  'packages/mcp/src/protocol/exchange.ts': all(FALLBACKS, MOMENTS),
  'packages/mcp/src/protocol/protocol.ts': SECOND,
  'packages/mcp/src/protocol/running-calls.ts': MOMENTS,
  'packages/mcp/src/protocol/stateless-protocol.ts': all(FALLBACKS, SECOND),
  'packages/mcp/src/rpc-endpoint.ts': all(FALLBACKS, SECOND, OPTIONS),
  'packages/mcp/src/tools/json-schema.ts': all(FALLBACKS, LARGE),
  'packages/mcp/src/tools/time-limit.ts': MOMENTS,
  'packages/mcp/src/tools/tool-access.ts': all(FALLBACKS, SECOND),
  'packages/mcp/src/tools/tools.ts': all(FAULTS, OPTIONS),
  'packages/portico/src/application/application.ts': all(FAULTS, OPTIONS),
  'packages/portico/src/application/configuration.ts': all(FALLBACKS, FAULTS),
  'packages/portico/src/application/environment.ts': MOMENTS,
  'packages/portico/src/application/events.ts': OPTIONS,
  'packages/portico/src/assembly/branding.ts': SECOND,
  'packages/portico/src/assembly/feature-configuration.ts': WORDS,
  'packages/portico/src/assembly/feature-conflicts.ts': OPTIONS,
  'packages/portico/src/assembly/protected-apis.ts': WORDS,
  'packages/portico/src/authorization/access-lasts.ts': FALLBACKS,
  'packages/portico/src/authorization/consent.ts': MOMENTS,
  'packages/portico/src/authorization/id-token-hint.ts': all(FAULTS, SECOND),
  'packages/portico/src/clients/field-changes.ts': OPTIONS,
  'packages/portico/src/clients/listing.ts': FALLBACKS,
  'packages/portico/src/clients/lookalikes.ts': OPTIONS,
  'packages/portico/src/clients/reading-assertions.ts': FAULTS,
  'packages/portico/src/config.ts': WORDS,
  'packages/portico/src/console/{checks,engine-examinations,view-checks}.ts': all(
    FALLBACKS,
    FAULTS,
  ),
  'packages/portico/src/console/client-demand-checks.ts': OPTIONS,
  'packages/portico/src/console/commands/{authorization-list,client-list,client-metadata,client-revoke,client-show,keys-list,keys-prune,outbox,prune,restored}.ts':
    WORDS,
  'packages/portico/src/console/commands/{client-create,keys-rotate}.ts': all(FALLBACKS, OPTIONS),
  'packages/portico/src/console/commands/server-doctor.ts': FAULTS,
  'packages/portico/src/console/database-problems.ts': FAULTS,
  'packages/portico/src/console/doctor.ts': FALLBACKS,
  'packages/portico/src/console/fetch-document.ts': all(FALLBACKS, FAULTS),
  'packages/portico/src/console/key-checks.ts': all(FALLBACKS, WORDS),
  'packages/portico/src/console/open-server.ts': OPTIONS,
  'packages/portico/src/console/program/commands/{db-backup,db-migrate}.ts': all(FAULTS, WORDS),
  'packages/portico/src/console/program/{console,find-application,pending-schema}.ts': all(
    FALLBACKS,
    FAULTS,
    OPTIONS,
  ),
  'packages/portico/src/console/program/{find-sources,without-servers}.ts': all(FALLBACKS, OPTIONS),
  'packages/portico/src/console/public-address.ts': all(FALLBACKS, WORDS, OPTIONS),
  'packages/portico/src/console/server-checks.ts': all(FAULTS, PLATFORMS),
  'packages/portico/src/console/spans.ts': FALLBACKS,
  'packages/portico/src/endpoints/{metadata,sign-in-trips}.ts': FALLBACKS,
  'packages/portico/src/features/audit/commands.ts': WORDS,
  'packages/portico/src/features/audit/kept-audit.ts': all(FALLBACKS, SECOND),
  'packages/portico/src/features/audit/stream.ts': OPTIONS,
  'packages/portico/src/features/back-channel-logout/{delivery,old-sign-ins}.ts': all(
    FAULTS,
    MOMENTS,
  ),
  'packages/portico/src/features/back-channel-logout/metadata.ts': SECOND,
  'packages/portico/src/features/back-channel-logout/{session-logout,sessions}.ts': all(
    FALLBACKS,
    MOMENTS,
  ),
  'packages/portico/src/features/branding/logo.ts': FAULTS,
  'packages/portico/src/features/client-documents/records.ts': all(FALLBACKS, MOMENTS),
  'packages/portico/src/features/device/clients.ts': SECOND,
  'packages/portico/src/features/device/{codes,page,user-code}.ts': FALLBACKS,
  'packages/portico/src/features/health/{config,index}.ts': all(WORDS, OPTIONS),
  'packages/portico/src/features/jwt-bearer/commands.ts': WORDS,
  'packages/portico/src/features/jwt-bearer/links.ts': FALLBACKS,
  'packages/portico/src/features/jwt-bearer/organization-access.ts': all(OPTIONS, MOMENTS),
  'packages/portico/src/features/logout/endpoint.ts': all(FALLBACKS, FAULTS),
  'packages/portico/src/features/logout/hints.ts': MOMENTS,
  'packages/portico/src/features/openapi/document.ts': all(FALLBACKS, OPTIONS),
  'packages/portico/src/features/private-key-jwt/decoy-client.ts': FAULTS,
  'packages/portico/src/features/pushed-requests/pushing-clients.ts': FALLBACKS,
  'packages/portico/src/features/reauthentication/{checks,requirement}.ts': FALLBACKS,
  'packages/portico/src/features/registration/commands.ts': WORDS,
  'packages/portico/src/features/registration/given-secrets.ts': all(FALLBACKS, OPTIONS),
  'packages/portico/src/features/remember-consent/{index,refusals}.ts': SECOND,
  'packages/portico/src/features/remember-consent/memory.ts': all(SECOND, MOMENTS),
  'packages/portico/src/features/telemetry/**': all(FAULTS, OPTIONS),
  'packages/portico/src/features/workload-identity/assertion-grant.ts': FAULTS,
  'packages/portico/src/grants/{code-exchange,living-access}.ts': FALLBACKS,
  'packages/portico/src/grants/restored-access.ts': MOMENTS,
  'packages/portico/src/host/session-ends.ts': OPTIONS,
  'packages/portico/src/http/body.ts': all(FAULTS, OPTIONS),
  'packages/portico/src/http/outbound/freshness.ts': FALLBACKS,
  'packages/portico/src/http/outbound/guarded-request.ts': all(FAULTS, OPTIONS),
  'packages/portico/src/http/{request-target,return-path}.ts': SECOND,
  'packages/portico/src/keys/assertions/issuer-keys.ts': all(FAULTS, MOMENTS, LARGE),
  'packages/portico/src/keys/assertions/trusted-issuers.ts': all(FALLBACKS, SECOND),
  'packages/portico/src/mounts/nest/protection.ts': all(OPTIONS, MOMENTS),
  'packages/portico/src/mounts/next/index.ts': all(FALLBACKS, MOMENTS),
  'packages/portico/src/mounts/node/{incoming-request,index}.ts': FALLBACKS,
  'packages/portico/src/outbox/{deliveries,examination,outbox}.ts': all(OPTIONS, MOMENTS, LARGE),
  'packages/portico/src/pages/{markup,message}.ts': FALLBACKS,
  'packages/portico/src/pages/{own-messages,view-errors,views}.ts': all(FALLBACKS, FAULTS),
  'packages/portico/src/plugin.ts': OPTIONS,
  'packages/portico/src/quoting.ts': all(FALLBACKS, WORDS),
  'packages/portico/src/refusals.ts': all(FALLBACKS, WORDS),
  'packages/portico/src/resource/token-accessor.ts': OPTIONS,
  'packages/portico/src/store/client-demands.ts': OPTIONS,
  'packages/portico/src/store/{further-metadata,pruning}.ts': all(FALLBACKS, SECOND),
  'packages/portico/src/store/sql/access-tokens.ts': all(FALLBACKS, MOMENTS),
  'packages/portico/src/store/sql/{authorizations,counting,everything-issued,expired,further-metadata,refresh-tokens,statements,waiting-requests}.ts':
    FALLBACKS,
  'packages/portico/src/store/sql/{outbox-messages,outbox-receivers}.ts': all(
    FALLBACKS,
    OPTIONS,
    MOMENTS,
  ),
  'packages/portico/src/tokens/dropped-scopes.ts': OPTIONS,
  'packages/resource-server/src/guards.ts': all(FALLBACKS, OPTIONS),
  'packages/sql/src/driver.ts': DRIVERS,
  'packages/sql/src/{failures,lent-connection}.ts': FAULTS,
  'packages/sql/src/judging.ts': FAULTS,
  'packages/sql/src/kept-by-text.ts': LARGE,
  'packages/sql/src/mysql/borrowed.ts': all(DRIVERS, SERVERS),
  'packages/sql/src/mysql/{checks,dialect,engine,session}.ts': all(FALLBACKS, SERVERS),
  'packages/sql/src/owned-files.ts': all(MOMENTS, PLATFORMS),
  'packages/sql/src/postgres/{batch,statement}.ts': all(FAULTS, MOMENTS),
  'packages/sql/src/postgres/{borrowed,connection,engine}.ts': all(FALLBACKS, FAULTS, DRIVERS),
  'packages/sql/src/postgres/broken-idle.ts': FAULTS,
  'packages/sql/src/postgres/checks.ts': all(FALLBACKS, SERVERS),
  'packages/sql/src/postgres/{dialect,hosts}.ts': all(FALLBACKS, MOMENTS),
  'packages/sql/src/print-migrations.ts': all(SECOND, OPTIONS),
  'packages/sql/src/retrying.ts': MOMENTS,
  'packages/sql/src/shared-reads.ts': OPTIONS,
  'packages/sql/src/sqlite/checks.ts': all(FALLBACKS, FAULTS),
  'packages/sql/src/sqlite/{engine,failures,statements,steps,write-queue}.ts': all(
    FAULTS,
    MOMENTS,
    LARGE,
  ),
};

function all(...reasons: readonly string[]): string {
  return reasons.join(' ');
}

/** Returns the reason for a file, or null if it has none. */
export function reasonFor(file: string): string | null {
  const found = Object.entries(REASONS).find(([pattern]) => path.matchesGlob(file, pattern));
  return found?.[1] ?? null;
}
