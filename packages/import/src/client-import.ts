import { authorizationServerOf, type AddCommands } from 'portico';
import { orFail } from 'portico/extension';
import type { ImportedClient } from './contract.ts';
import { readRecords } from './import-file.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly newSecrets?: boolean;
  readonly json?: boolean;
}

export const addClientImport: AddCommands = (program, context) => {
  program
    .command('oauth:client:import')
    .description(
      'register the applications of another server with their ids and secrets; all of them, or none',
    )
    .argument('<file>', 'a JSON array, or one JSON object in each line; - for standard input')
    .option('--dry-run', 'show what would be done, and write nothing')
    .option('--new-secrets', 'make a secret for each application that needs one and has none; printed once')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText('after', HELP)
    .action(async (file: string, { dryRun = false, newSecrets = false, json = false }: Options) => {
      const records = await readRecords(context, file);
      const { importing } = authorizationServerOf(await context.application());
      const { written, clients } = await context.progress('Importing applications', (report) =>
        orFail(
          context,
          importing.clients(records, {
            dryRun,
            newSecrets,
            by: 'console',
            report: (count) => report(`${count} of ${records.length}`),
          }),
        ),
      );
      if (json) context.printJson({ written, clients: clients.map(asJson) });
      else for (const client of clients) for (const line of describe(client, dryRun)) context.print(line);
      const refused = clients.filter(({ outcome }) => outcome === 'refused').length;
      if (refused > 0)
        context.fail(`${refused} of ${clients.length} applications are refused; nothing was written`);
      if (dryRun) context.note('Nothing was written: it was a dry run.');
    });
};

function asJson({ record, clientId, outcome, problem, changes, secret }: ImportedClient) {
  const secrets = secret === null ? {} : { client_secret: secret };
  return { record, client_id: clientId, outcome, problem, changes, ...secrets };
}

function describe(client: ImportedClient, dryRun: boolean): readonly string[] {
  const { record, clientId, outcome, problem, changes, secret } = client;
  const done = outcome === 'imported' && dryRun ? 'would be imported' : outcome;
  return [
    `${clientId ?? `record ${record}`}  ${done}${problem === null ? '' : `: ${problem}`}`,
    ...changes.map((change) => `  ${change}`),
    ...(secret === null ? [] : [`  client secret: ${secret}`]),
  ];
}

const HELP = `
An application is described by the names of RFC 7591: client_id, client_name, redirect_uris, scope, grant_types, token_endpoint_auth_method
and the like. Its secret is client_secret, or client_secret_hash where the other server kept no more: sha256:<hexadecimal or base64>,
pbkdf2_sha256$<iterations>$<salt>$<base64> (Django), or a hash that this application's own password hasher could have made.

Every record is looked at before any is written. Run again, the import changes nothing. See docs/moving/.`;
