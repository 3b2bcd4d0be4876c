import { authorizationServerOf, type AddCommands } from 'portico';
import { orFail } from 'portico/extension';
import type { ImportedClient } from './contract.ts';
import { readRecords } from './import-file.ts';

export const addClientImport: AddCommands = (program, context) => {
  program
    .command('oauth:client:import')
    .description(
      'import applications from another server, with their ids and secrets; if one is ' +
        'refused, none are imported',
    )
    .argument(
      '<file>',
      'a file with a JSON array, or with one JSON object per line. Use - for standard input',
    )
    .option('--dry-run', 'show what would be imported, but write nothing')
    .option(
      '--new-secrets',
      'create a secret for each application that needs one but has none, and print it',
    )
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(
      async (
        file: string,
        {
          dryRun = false,
          newSecrets = false,
          json = false,
        }: { readonly dryRun?: boolean; readonly newSecrets?: boolean; readonly json?: boolean },
      ) => {
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
        else
          for (const client of clients)
            for (const line of describe(client, dryRun)) context.print(line);
        const refused = clients.filter(({ outcome }) => outcome === 'refused').length;
        if (refused > 0)
          context.fail(
            `${refused} of ${clients.length} applications were refused, so nothing was imported`,
          );
        if (dryRun) context.note('Dry run: nothing was written.');
      },
    );
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
The field names are those of RFC 7591, such as client_id, client_name, redirect_uris, scope, grant_types and token_endpoint_auth_method.
Put the secret into client_secret, or its hash into client_secret_hash. Known hashes: sha256:<hexadecimal or base64>,
pbkdf2_sha256$<iterations>$<salt>$<base64> (Django), and the hashes of this application's own password hasher.

All records are checked before any is written. You can run the import again: it changes nothing. See docs/moving/.`;
