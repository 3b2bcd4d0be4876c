import { existsSync } from 'node:fs';
import path from 'node:path';
import { mcpServerOf } from '@portico/mcp';
import { makeFolders, pendingSteps } from '@portico/sql';
import type { AddCommands, Application, ConsoleContext } from 'portico';
import { orFail } from 'portico/extension';
import { listingProblems, type Listing } from '../listing.ts';
import {
  assistantConfig,
  draftManifest,
  manifestText,
  setUpAssistant,
  type ClientSetup,
  type ManifestDraft,
} from '../setup.ts';

export const addAssistantSetup: AddCommands = (program, context) => {
  program
    .command('assistant:setup')
    .description(
      'register the clients of the voice assistant, and print their ids and secrets (shown ' +
        'only once)',
    )
    .option(
      '--migrate',
      'first apply the database migrations of the authorization server, but no others',
    )
    .option(
      '--manifest <path>',
      'export the directory listing to this file, which must not exist yet',
    )
    .option('--json', 'print only JSON to standard output')
    .action(
      async ({
        migrate,
        manifest,
        json,
      }: {
        readonly migrate?: boolean;
        readonly manifest?: string;
        readonly json?: boolean;
      }) => {
        const application = await context.application();
        // First do the steps that register nothing, because they may fail.
        const file = manifest === undefined ? null : path.resolve(manifest);
        if (file !== null && existsSync(file))
          context.fail(`${file} already exists; choose another file name`);
        const draft =
          file === null
            ? null
            : await writeDraft(context, file, exportListing(context, application));
        try {
          if (migrate === true)
            await application.migrate((name) => name.startsWith('oauth_server_'));
          await requireSchema(context, application);
          const clients = await registerClients(
            context,
            application,
            json === true ? null : (line) => context.print(line),
          );
          // Print the secrets even if the file cannot be published, because no later command can
          // show them.
          let written: string | null = null;
          try {
            if (draft !== null && (await publish(context, draft, file))) written = file;
          } finally {
            if (json === true) {
              const { resource } = mcpServerOf(application);
              context.printJson({ resource, clients, manifest: written });
            }
          }
          if (written !== file) context.fail(`${file} already exists; choose another file name`);
          if (written !== null && json !== true) context.print(`Wrote ${written}.`);
          if (clients.some(({ state }) => state === 'differs')) {
            context.fail(
              'At least one registered client differs from the configuration, and was not ' +
                'changed. The output above shows how to fix this.',
            );
          }
        } finally {
          await draft?.discard();
        }
      },
    );
};

async function requireSchema(context: ConsoleContext, application: Application): Promise<void> {
  const pending = pendingSteps(await application.migrations(), 'oauth_server_');
  if (pending.length > 0)
    context.fail(
      'The database schema is not up to date. Run npx portico db:migrate up first, or add ' +
        '--migrate to this command',
    );
}

/**
 * Registers the clients, and prints each one immediately. With `--json`, the caller prints them. If
 * a registration fails, this function prints the clients that were registered before it.
 */
async function registerClients(
  context: ConsoleContext,
  application: Application,
  print: ((line: string) => void) | null,
): Promise<readonly ClientSetup[]> {
  const clients: ClientSetup[] = [];
  print?.(`canonical resource: ${mcpServerOf(application).resource}`);
  try {
    const setUp = setUpAssistant(application, (client) => {
      clients.push(client);
      for (const line of describe(client)) print?.(line);
    });
    await orFail(context, setUp);
  } catch (error) {
    if (print === null && clients.length > 0) context.printJson({ clients });
    throw error;
  }
  if (clients.some(({ client_secret: secret }) => secret !== null)) {
    if (print !== null)
      context.note('Copy the secrets now. They are not shown again: only their hashes are stored.');
  }
  return clients;
}

async function publish(
  context: ConsoleContext,
  draft: ManifestDraft,
  file: string | null,
): Promise<boolean> {
  try {
    return await draft.publish();
  } catch (error) {
    return context.fail(unwritten(file, error));
  }
}

const unwritten = (file: string | null, error: unknown) =>
  `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`;

async function writeDraft(
  context: ConsoleContext,
  file: string,
  manifest: string,
): Promise<ManifestDraft> {
  try {
    makeFolders(path.dirname(file));
    return await draftManifest(file, manifest);
  } catch (error) {
    return context.fail(unwritten(file, error));
  }
}

function exportListing(context: ConsoleContext, application: Application): string {
  const { listing } = assistantConfig(application);
  const problems = listingProblems(listing);
  if (problems.length > 0) {
    const lines = problems.map(({ key, message }) => `${key}: ${message}`).join('\n');
    context.fail(`The directory listing cannot be exported:\n${lines}`);
  }
  return manifestText(application, listing as Listing);
}

function describe(client: ClientSetup): readonly string[] {
  const { role, client_id: id, client_secret: secret, state, differences, remedy } = client;
  if (state === 'registered')
    return [`${role} client id:     ${id}`, `${role} client secret: ${secret}`];
  if (state === 'unchanged') return [`${role} client ${id} matches the configuration.`];
  return [
    `${role} client ${id} differs from the configuration:`,
    ...differences.map((difference) => `  ${difference}`),
    `  → ${remedy}`,
  ];
}
