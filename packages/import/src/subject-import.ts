import { authorizationServerOf, type AddCommands } from 'portico';
import { orFail } from 'portico/extension';
import { readRecords } from './import-file.ts';

/**
 * The maximum number of rejected records to print. A few of them are enough to find a mistake in a
 * large file.
 */
const MOST_SHOWN = 20;

export const addSubjectImport: AddCommands = (program, context) => {
  program
    .command('oauth:subject:import')
    .description('import the sub of each person from another server; existing subs are not changed')
    .argument(
      '<file>',
      'a file with a JSON array, or with one JSON object per line; each object has provider, ' +
        'id and sub. Use - for standard input',
    )
    .option('--dry-run', 'show what would be imported, but write nothing')
    .option('--json', 'print only JSON to standard output')
    .addHelpText('after', HELP)
    .action(
      async (
        file: string,
        { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean },
      ) => {
        const records = await readRecords(context, file);
        const { importing } = authorizationServerOf(await context.application());
        const { written, subjects } = await context.progress('Importing subjects', (report) =>
          orFail(
            context,
            importing.subjects(records, {
              dryRun,
              by: 'console',
              report: (count) => report(`${count} of ${records.length}`),
            }),
          ),
        );
        const refused = subjects.filter(({ outcome }) => outcome === 'refused');
        const count = (wanted: string) =>
          subjects.filter(({ outcome }) => outcome === wanted).length;
        const [imported, unchanged] = [count('imported'), count('unchanged')];
        if (json) context.printJson({ written, imported, unchanged, refused });
        else {
          for (const { record, problem } of refused.slice(0, MOST_SHOWN)) {
            context.print(`record ${record}  refused: ${problem ?? ''}`);
          }
          context.print(
            `${imported} ${written ? 'imported' : 'to import'}, ${unchanged} unchanged, ` +
              `${refused.length} refused`,
          );
        }
        if (refused.length > 0) {
          const end = written ? 'the others were imported' : 'nothing was written';
          context.fail(`${refused.length} of ${subjects.length} records were refused; ${end}`);
        }
        if (dryRun) context.note('Dry run: nothing was written.');
      },
    );
};

const HELP = `
provider and id identify the account, as oauth:authorization:list prints them. sub is the value that the other server sent in ID tokens
and at UserInfo. Run the import before people sign in to applications through this server, because a person's sub cannot change later.`;
