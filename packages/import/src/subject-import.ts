import { authorizationServerOf, type AddCommands } from 'portico';
import { orFail } from 'portico/extension';
import { readRecords } from './import-file.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The most rejected records that are printed: enough to see what is wrong in a large file. */
const MOST_SHOWN = 20;

export const addSubjectImport: AddCommands = (program, context) => {
  program
    .command('oauth:subject:import')
    .description(
      'keep the sub by which applications of another server know people; a person who has a sub here keeps it',
    )
    .argument(
      '<file>',
      'a JSON array, or one JSON object in each line: provider, id, sub; - for standard input',
    )
    .option('--dry-run', 'show what would be done, and write nothing')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .addHelpText('after', HELP)
    .action(async (file: string, { dryRun = false, json = false }: Options) => {
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
      const count = (wanted: string) => subjects.filter(({ outcome }) => outcome === wanted).length;
      const [imported, unchanged] = [count('imported'), count('unchanged')];
      if (json) context.printJson({ written, imported, unchanged, refused });
      else {
        for (const { record, problem } of refused.slice(0, MOST_SHOWN)) {
          context.print(`record ${record}  refused: ${problem ?? ''}`);
        }
        context.print(
          `${imported} ${written ? 'imported' : 'to import'}, ${unchanged} unchanged, ${refused.length} refused`,
        );
      }
      if (refused.length > 0) {
        const end = written ? 'the others were imported' : 'nothing was written';
        context.fail(`${refused.length} of ${subjects.length} records are refused; ${end}`);
      }
      if (dryRun) context.note('Nothing was written: it was a dry run.');
    });
};

const HELP = `
provider and id name the account, as oauth:authorization:list prints them; sub is what the other server said of it in ID tokens and at
UserInfo. Do it before anyone signs in to an application through this server: from then on people have a subject, which stays.`;
