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

/** What `assistant:setup` did, or found, for one client. */
export interface ClientSetup {
  /** Which of the two clients it is. */
  readonly role: ClientRole;
  /** The client's identifier. */
  readonly client_id: string;
  /** Only for a client that was registered just now: it is shown once. */
  readonly client_secret: string | null;
  /** `differs` is a client that is registered with something else than the configuration wants; it was left alone. */
  readonly state: 'registered' | 'unchanged' | 'differs';
  /** What differs, each in a few words; empty unless the state is `differs`. */
  readonly differences: readonly string[];
  /** What to do about it; null when there is nothing to do. */
  readonly remedy: string | null;
}

/** What `assistant:setup` did and found. */
export interface AssistantSetup {
  /** The canonical resource (RFC 8707) that the assistant's tokens are for, such as `https://app.example/mcp`. */
  readonly resource: string;
  /** One for each role. */
  readonly clients: readonly ClientSetup[];
}

/**
 * Registers the clients that are missing. `report` gets each client at once, so that a new secret is shown even if something
 * fails later. Registered clients are left alone, also those that differ from the configuration.
 */
export async function setUpAssistant(
  application: Application,
  report: (client: ClientSetup) => void = () => {},
): Promise<AssistantSetup> {
  const server = authorizationServerOf(application);
  const clients: ClientSetup[] = [];
  for (const found of await findClients(server, assistantConfig(application))) {
    const client =
      found.client === null ? await register(server, found.wanted) : describeFound(found.client, found);
    clients.push(client);
    report(client);
  }
  return { resource: mcpServerOf(application).resource, clients };
}

async function register(server: AuthorizationServer, wanted: WantedClient): Promise<ClientSetup> {
  const { role, name, grants, scopes, redirectUris } = wanted;
  const registration = { name, grants, scopes, redirectUris };
  // Another process may be registering it at this moment.
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

/** A listing that cannot be exported, with all that is wrong with it. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  /** Every problem, each naming its key. */
  readonly problems: readonly ConfigurationProblem[];

  /** The message is made of the problems. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** The text of the manifest. Throws a ListingError when the listing has problems. */
export function manifestText(application: Application): string {
  const { listing } = assistantConfig(application);
  const problems = listingProblems(listing);
  if (problems.length > 0) throw new ListingError(problems);
  const manifest = addonManifest(listing as Listing, mcpServerOf(application).resource);
  return `${jsonText(manifest, undefined, 2)}\n`;
}

/** A manifest in a temporary file beside its place; publishing it is atomic. */
export interface ManifestDraft {
  /** Returns false, and replaces nothing, when a file is there already. */
  publish(): Promise<boolean>;
  discard(): Promise<void>;
}

/** Rejects when nothing can be written there. */
export async function draftManifest(file: string, manifest: string): Promise<ManifestDraft> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}-${randomUUID()}`);
  await writeFile(draft, manifest, { flag: 'wx' });
  return {
    async publish() {
      try {
        // A link, unlike a rename, fails when its name is taken.
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
