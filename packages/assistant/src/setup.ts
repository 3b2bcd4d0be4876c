import { link, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { mcpServerOf } from '@portico/mcp';
import { hasCode } from '@portico/sql';
import {
  type Application,
  type AuthorizationServer,
  authorizationServerOf,
  type Client,
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
import { addonManifest, type Listing } from './listing.ts';

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

/**
 * Registers the missing clients. Calls `report` for each client immediately, so that a new secret
 * is shown even if a later step fails. Does not change existing clients, even if they differ from
 * the configuration.
 */
export async function setUpAssistant(
  application: Application,
  report: (client: ClientSetup) => void,
): Promise<void> {
  const server = authorizationServerOf(application);
  for (const found of await findClients(server, assistantConfig(application))) {
    report(
      found.client === null
        ? await register(server, found.wanted)
        : describeFound(found.client, found),
    );
  }
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

/** Returns the content of the manifest file. The directory listing must have no problems. */
export function manifestText(application: Application, listing: Listing): string {
  const manifest = addonManifest(listing, mcpServerOf(application).resource);
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
  const discard = () => rm(draft, { force: true });
  try {
    await writeFile(draft, manifest, { flag: 'wx' });
  } catch (error) {
    await discard().catch(() => {});
    throw error;
  }
  return {
    async publish() {
      try {
        // Create a hard link, which fails if the target file exists. A rename would replace that
        // file.
        await link(draft, file);
        return true;
      } catch (error) {
        if (hasCode(error, 'EEXIST')) return false;
        throw error;
      }
    },
    discard,
  };
}
