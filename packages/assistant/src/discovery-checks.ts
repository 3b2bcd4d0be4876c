import type { McpServer } from '@portico/mcp';
import type { Application, AuthorizationServer, Check, Finding } from 'portico';
import { failing, ok } from 'portico/extension';
import type { AssistantConfig } from './config.ts';

/** The objects that the doctor examines. */
export interface Subject {
  readonly application: Application;
  readonly server: AuthorizationServer;
  readonly mcp: McpServer;
  readonly config: AssistantConfig;
}

/**
 * The results of an examination. A result is about the examined part, unless it names another part.
 */
export type Findings = readonly (Finding | Check)[];

/**
 * Checks the three documents that an assistant fetches first, by sending the same requests as an
 * assistant.
 */
export async function examineDiscovery(subject: Subject): Promise<Findings> {
  const { server, mcp } = subject;
  const findings: Finding[] = [];
  const inFront = `/.well-known/oauth-protected-resource${server.basePath}`;
  for (const path of [`${inFront}/mcp`, inFront]) {
    const document = await fetchDocument(subject, path);
    const right =
      document['resource'] === mcp.resource &&
      JSON.stringify(document['authorization_servers']) === JSON.stringify([server.issuer]);
    findings.push(
      right
        ? ok(`${path} returns the correct resource and authorization server`)
        : failing(
            `${path} does not return the resource ${mcp.resource} and its authorization server ` +
              server.issuer,
            ROUTE_REMEDY,
          ),
    );
  }
  const path = `/.well-known/oauth-authorization-server${server.basePath}`;
  const metadata = await fetchDocument(subject, path);
  const missing = [
    ...missingValues(metadata, 'grant_types_supported', [
      'client_credentials',
      'authorization_code',
      'refresh_token',
    ]),
    ...missingValues(metadata, 'code_challenge_methods_supported', ['S256']),
    ...(metadata['issuer'] === server.issuer ? [] : ['the issuer']),
  ];
  findings.push(
    missing.length === 0
      ? ok(`the metadata at ${path} contains everything that assistants need`)
      : failing(`the metadata at ${path} does not contain ${missing.join(', ')}`, ROUTE_REMEDY),
  );
  return findings;
}

const ROUTE_REMEDY =
  'set oauth_server:routes to true, and make sure that no other route or hook of the ' +
  'application responds at this path';

function missingValues(
  document: Readonly<Record<string, unknown>>,
  key: string,
  needed: readonly string[],
): readonly string[] {
  const offered = document[key];
  return needed.filter((value) => !Array.isArray(offered) || !offered.includes(value));
}

async function fetchDocument(
  { application, server }: Subject,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await application.fetch(new Request(`${server.origin}${path}`));
  if (response.status !== 200) return {};
  return (await response.json()) as Record<string, unknown>;
}
