import { link, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Application, ConfigurationProblem } from '../host/contracts.ts';
import { mcpServerOf } from '../mcp/index.ts';
import { authorizationServerOf } from '../oauth-server/index.ts';
import { findClients, reviewOf, type ClientRole } from './clients.ts';
import type { AssistantConfig } from './config.ts';
import { addonManifest, listingProblems, type Listing } from './listing.ts';

/** What `assistant:setup` did, or found, for one client. */
export interface ClientSetup {
  readonly role: ClientRole;
  readonly client_id: string;
  /** Only for a client that was registered just now: it is shown once. */
  readonly client_secret: string | null;
  readonly state: 'registered' | 'unchanged' | 'differs';
  readonly differences: readonly string[];
  readonly remedy: string | null;
}

export interface AssistantSetup {
  readonly resource: string;
  readonly clients: readonly ClientSetup[];
}

/** Registers what is missing. What matches is left alone, and so is what differs. */
export async function setUpAssistant(application: Application): Promise<AssistantSetup> {
  const server = authorizationServerOf(application);
  const clients: ClientSetup[] = [];
  for (const found of await findClients(server, assistantConfigOf(application))) {
    const { role, name, grants, scopes, redirectUris } = found.wanted;
    if (found.client === null) {
      const { client, secret } = await server.clients.create({ name, grants, scopes, redirectUris });
      clients.push({
        role,
        client_id: client.id,
        client_secret: secret,
        state: 'registered',
        differences: [],
        remedy: null,
      });
      continue;
    }
    const differs = found.differences.length > 0;
    clients.push({
      role,
      client_id: found.client.id,
      client_secret: null,
      state: differs ? 'differs' : 'unchanged',
      differences: found.differences,
      remedy: differs ? reviewOf(found) : null,
    });
  }
  return { resource: mcpServerOf(application).resource, clients };
}

export function assistantConfigOf(application: Application): AssistantConfig {
  return application.config['assistant'] as AssistantConfig;
}

/** A listing that cannot be exported, with all that is wrong with it. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** The manifest as it is written. Throws a ListingError when the listing is not right. */
export function manifestOf(application: Application): string {
  const { listing } = assistantConfigOf(application);
  const problems = listingProblems(listing);
  if (problems.length > 0) throw new ListingError(problems);
  const manifest = addonManifest(listing as Listing, mcpServerOf(application).resource);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Writes the whole file or none, and never over another one. False when there is a file already. */
export async function writeManifest(file: string, manifest: string): Promise<boolean> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}-${randomUUID()}`);
  await writeFile(draft, manifest, { flag: 'wx' });
  try {
    // A link, unlike a rename, fails when its name is taken.
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}
