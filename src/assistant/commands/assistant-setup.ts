import path from 'node:path';
import { existsSync } from 'node:fs';
import type { AddCommands, ConsoleContext } from '../../host/contracts.ts';
import {
  ListingError,
  manifestOf,
  setUpAssistant,
  writeManifest,
  type AssistantSetup,
  type ClientSetup,
} from '../setup.ts';

interface Options {
  readonly migrate?: boolean;
  readonly manifest?: string;
  readonly json?: boolean;
}

export const addAssistantSetup: AddCommands = (program, context) => {
  program
    .command('assistant:setup')
    .description('register the clients of the voice assistant; prints ids and secrets, once')
    .option('--migrate', 'apply the schema of the authorization server first, and nothing else')
    .option('--manifest <path>', 'write the listing export; an existing file is never replaced')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async ({ migrate, manifest, json }: Options) => {
      const application = await context.application();
      // What may fail without having changed anything comes first.
      const file = manifest === undefined ? null : path.resolve(manifest);
      if (file !== null && existsSync(file)) context.fail(`${file} exists; name another file`);
      if (file !== null && !existsSync(path.dirname(file)))
        context.fail(`There is no folder ${path.dirname(file)}`);
      const text = file === null ? '' : exported(context, () => manifestOf(application));
      if (migrate === true) await application.migrate((name) => name.startsWith('oauth_server_'));
      const pending = (await application.migrations()).some(
        ({ name, appliedAt }) => name.startsWith('oauth_server_') && appliedAt === null,
      );
      if (pending) context.fail('The schema is not applied: run this with --migrate, or db:migrate up first');
      const setup = await setUpAssistant(application);
      if (file !== null && !(await writeManifest(file, text)))
        context.fail(`${file} exists; name another file`);
      if (json === true) context.printJson({ ...setup, manifest: file });
      else print(context, setup, file);
      if (setup.clients.some(({ state }) => state === 'differs')) {
        context.fail('A registration differs from the configuration, and was left alone.');
      }
    });
};

function exported(context: ConsoleContext, manifest: () => string): string {
  try {
    return manifest();
  } catch (error) {
    if (error instanceof ListingError) context.fail(`The listing cannot be exported:\n${error.message}`);
    throw error;
  }
}

function print(context: ConsoleContext, { resource, clients }: AssistantSetup, file: string | null): void {
  context.print(`canonical resource: ${resource}`);
  for (const client of clients) for (const line of describe(client)) context.print(line);
  if (file !== null) context.print(`Wrote ${file}.`);
  if (clients.some(({ client_secret: secret }) => secret !== null)) {
    context.note('Keep the secrets now: only their hashes are stored, and they are not shown again.');
  }
}

function describe(client: ClientSetup): readonly string[] {
  const { role, client_id: id, client_secret: secret, state, differences, remedy } = client;
  if (state === 'registered') return [`${role} client id:     ${id}`, `${role} client secret: ${secret}`];
  if (state === 'unchanged') return [`${role} client ${id} is registered as configured.`];
  return [
    `${role} client ${id} differs from the configuration in`,
    ...differences.map((difference) => `  ${difference}`),
    `  → ${remedy}`,
  ];
}
