import { link, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { mcpServerOf } from '@portico/mcp';
import {
  type Application,
  type AuthorizationServer,
  authorizationServerOf,
  type Client,
  type ConfigurationProblem,
} from 'portico';
import { jsonText } from 'portico/extension';
import {
  compareClient,
  differenceRemedy,
  findClients,
  playsRole,
  type ClientRole,
  type FoundClient,
  type WantedClient,
} from './clients.ts';
import type { AssistantConfig } from './config.ts';
import { addonManifest, listingProblems, type Listing } from './listing.ts';

/** The result of `assistant:setup` for one client. */
export interface ClientSetup {
  /** Which of the two clients this is. */
  readonly role: ClientRole;
  /** The client's id. */
  readonly client_id: string;
  /** The secret of a newly registered client, shown only once. Null for other clients. */
  readonly client_secret: string | null;
  /**
   * What `assistant:setup` did with the client. `differs` means that the registration differs from
   * the configuration. `assistant:setup` leaves such a registration unchanged.
   */
  readonly state: 'registered' | 'unchanged' | 'differs';
  /** A short description of each difference. The list is empty unless the state is `differs`. */
  readonly differences: readonly string[];
  /** What you can do about the differences, or null. */
  readonly remedy: string | null;
}

/** The result of `assistant:setup`. */
export interface AssistantSetup {
  /**
   * The canonical resource (RFC 8707) of the assistant's tokens, such as `https://app.example/mcp`.
   */
  readonly resource: string;
  /** One client for each role. */
  readonly clients: readonly ClientSetup[];
}

/**
 * Registers the missing clients. Calls `report` for each client immediately, so that its new secret
 * is shown even if a later step fails. Existing clients stay unchanged, even if they differ from
 * the configuration.
 */
export async function setUpAssistant(
  application: Application,
  report: (client: ClientSetup) => void = () => {},
): Promise<AssistantSetup> {
  const server = authorizationServerOf(application);
  const clients: ClientSetup[] = [];
  for (const found of await findClients(server, assistantConfig(application))) {
    const client =
      found.client === null
        ? await register(server, found.wanted)
        : describeFound(found.client, found);
    clients.push(client);
    report(client);
  }
  return { resource: mcpServerOf(application).resource, clients };
}

async function register(server: AuthorizationServer, wanted: WantedClient): Promise<ClientSetup> {
  const { role, name, grants, scopes, redirectUris } = wanted;
  const registration = { name, grants, scopes, redirectUris };
  // Use `createUnless`, because another process may be registering the same client.
  const { client, secret, created } = await server.clients.createUnless(
    registration,
    (each) => playsRole(each, wanted),
    { by: 'console' },
  );
  if (!created) return describeFound(client, compareClient(client, wanted));
  const nothing = { differences: [], remedy: null } as const;
  return { role, client_id: client.id, client_secret: secret, state: 'registered', ...nothing };
}

function describeFound(client: Client, { wanted, differences }: FoundClient): ClientSetup {
  const differs = differences.length > 0;
  return {
    role: wanted.role,
    client_id: client.id,
    client_secret: null,
    state: differs ? 'differs' : 'unchanged',
    differences,
    remedy: differs ? differenceRemedy(client) : null,
  };
}

export function assistantConfig(application: Application): AssistantConfig {
  return application.config['assistant'] as AssistantConfig;
}

/** Thrown if the listing cannot be exported. The error contains all problems. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  /** All problems, each with the key of its setting. */
  readonly problems: readonly ConfigurationProblem[];

  /** Builds the message from the problems, one per line. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** Returns the text of the manifest. Throws a ListingError if the listing has problems. */
export function manifestText(application: Application): string {
  const { listing } = assistantConfig(application);
  const problems = listingProblems(listing);
  if (problems.length > 0) throw new ListingError(problems);
  const manifest = addonManifest(listing as Listing, mcpServerOf(application).resource);
  return `${jsonText(manifest, undefined, 2)}\n`;
}

/** A manifest in a temporary file in the target folder. */
export interface ManifestDraft {
  /**
   * Publishes the manifest in one atomic step. If the target file exists, returns false and does
   * not replace it.
   */
  publish(): Promise<boolean>;
  discard(): Promise<void>;
}

/** Writes the draft of a manifest. Rejects if the folder is not writable. */
export async function draftManifest(file: string, manifest: string): Promise<ManifestDraft> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}-${randomUUID()}`);
  await writeFile(draft, manifest, { flag: 'wx' });
  return {
    async publish() {
      try {
        // Create a link, because it fails if the file exists. A rename would replace the file.
        await link(draft, file);
        return true;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
        throw error;
      }
    },
    discard: () => unlink(draft),
  };
}
