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
  /** The role of this client. */
  readonly role: ClientRole;
  /** The client's id. */
  readonly client_id: string;
  /**
   * The secret of a newly registered client, or null for an existing client. It is shown only once.
   */
  readonly client_secret: string | null;
  /**
   * The result for this client. `differs` means that an existing client differs from the
   * configuration. `assistant:setup` does not change such a client.
   */
  readonly state: 'registered' | 'unchanged' | 'differs';
  /** A short description of each difference. Empty unless the state is `differs`. */
  readonly differences: readonly string[];
  /** How to resolve the differences, or null if there are none. */
  readonly remedy: string | null;
}

/** The result of `assistant:setup`. */
export interface AssistantSetup {
  /**
   * The canonical resource (RFC 8707) for the assistant's tokens, such as
   * `https://app.example/mcp`.
   */
  readonly resource: string;
  /** One client for each role. */
  readonly clients: readonly ClientSetup[];
}

/**
 * Registers the missing clients. Calls `report` for each client immediately, so that a new secret
 * is shown even if a later step fails. Does not change existing clients, even if they differ from
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
  // Use `createUnless`, because another process may register the same client at the same time.
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

/**
 * Thrown if the directory listing cannot be exported. The error contains all problems with the
 * listing.
 */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  /** All problems, each with the key of its setting. */
  readonly problems: readonly ConfigurationProblem[];

  /** Creates the message from the problems, with one problem per line. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/**
 * Returns the content of the manifest file. Throws a ListingError if the directory listing has
 * problems.
 */
export function manifestText(application: Application): string {
  const { listing } = assistantConfig(application);
  const problems = listingProblems(listing);
  if (problems.length > 0) throw new ListingError(problems);
  const manifest = addonManifest(listing as Listing, mcpServerOf(application).resource);
  return `${jsonText(manifest, undefined, 2)}\n`;
}

/** A manifest in a temporary file in the target folder, ready to be published. */
export interface ManifestDraft {
  /**
   * Publishes the manifest atomically. If the target file already exists, leaves it unchanged and
   * returns false.
   */
  publish(): Promise<boolean>;
  discard(): Promise<void>;
}

/** Writes the manifest to a temporary file. Rejects if the folder is not writable. */
export async function draftManifest(file: string, manifest: string): Promise<ManifestDraft> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}-${randomUUID()}`);
  await writeFile(draft, manifest, { flag: 'wx' });
  return {
    async publish() {
      try {
        // Create a hard link, which fails if the target file exists. A rename would replace that
        // file.
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
