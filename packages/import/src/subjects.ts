import { AccessError, RegistrationError, type PersonReference, type Server } from 'portico';
import { quotedList, quotedPublic, requirePerson } from 'portico/extension';
import type { ImportedRecord, ImportOptions, SubjectImport } from './contract.ts';

const MOST = 100_000;

/**
 * Matches a subject: at most 255 ASCII characters (OpenID Connect Core section 2). Allows only
 * visible characters, so that two different subjects never look the same.
 */
const SUBJECT = /^[\x21-\x7E]{1,255}$/;

interface SubjectRecord {
  readonly person: PersonReference;
  readonly subject: string;
}

type Judged = Omit<ImportedRecord, 'record'> & { readonly accepted: SubjectRecord | null };

export async function importSubjects(
  server: Server,
  records: readonly unknown[],
  options: ImportOptions,
): Promise<SubjectImport> {
  const { dryRun = false, report = () => {} } = options;
  if (records.length > MOST) {
    throw new RegistrationError(
      `The file has ${records.length} subjects; at most ${MOST} can be imported at once. ` +
        'Split the file',
    );
  }
  const judge = createJudge(server);
  const judged: Judged[] = [];
  for (const record of records) {
    judged.push(await judge(record));
    report(judged.length);
  }
  const isRefused = judged.some(({ outcome }) => outcome === 'refused');
  const accepted = judged.some((each) => each.accepted !== null);
  const written = !dryRun && !isRefused && accepted;
  const results = written ? await write(server, judged, options) : judged;
  return {
    written,
    subjects: results.map(({ outcome, problem }, at) => ({ record: at + 1, outcome, problem })),
  };
}

/**
 * Writes each subject separately. Also writes the audit event, even if the import fails later. A
 * user who signs in during the import may get a new subject, and then keeps it. The user's record
 * is then rejected, in this import and in later ones.
 */
async function write(
  { store, audit }: Server,
  judged: readonly Judged[],
  { report = () => {}, by }: ImportOptions,
): Promise<readonly Judged[]> {
  const written: Judged[] = [];
  try {
    for (const each of judged) {
      const { accepted } = each;
      const isLost =
        accepted !== null &&
        !(await store.subjects.insertSubject(accepted.person, accepted.subject));
      written.push(isLost ? refused(STORED_MEANWHILE) : each);
      report(written.length);
    }
  } finally {
    const subjects = written.filter(({ outcome }) => outcome === 'imported').length;
    if (written.length === judged.length || subjects > 0)
      await audit({ type: 'subjects_imported', subjects, ...(by === undefined ? {} : { by }) });
  }
  return written;
}

const STORED_MEANWHILE =
  'the person or the sub was stored during the import, so this record was skipped; run the ' +
  'command again';

function createJudge({ store, host }: Server) {
  const people = new Set<string>();
  const subjects = new Set<string>();
  return async (record: unknown): Promise<Judged> => {
    try {
      const accepted = readSubjectRecord(record);
      const { person, subject } = accepted;
      const key = JSON.stringify([person.provider, person.id]);
      if (people.has(key)) return refused('an earlier record has the same person');
      if (subjects.has(subject)) return refused('an earlier record has the same sub');
      people.add(key);
      subjects.add(subject);
      const own = await store.subjects.findSubject(person);
      if (own === subject) return { outcome: 'unchanged', problem: null, accepted: null };
      if (own !== null) return refused('the person already has another sub, which cannot change');
      if ((await store.subjects.findPersonOfSubject(subject)) !== null)
        return refused('another person already has this sub');
      if ((await host.loadAccount(person)) === null)
        return refused('the application has no account with this provider and id');
      return { outcome: 'imported', problem: null, accepted };
    } catch (error) {
      if (error instanceof AccessError || error instanceof RegistrationError)
        return refused(error.message);
      throw error;
    }
  };
}

function refused(problem: string): Judged {
  return { outcome: 'refused', problem, accepted: null };
}

function readSubjectRecord(record: unknown): SubjectRecord {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new RegistrationError('the record is not a JSON object');
  }
  const { provider, id, sub, ...others } = record as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(others);
  if (unknown.length > 0)
    throw new RegistrationError(`unknown fields: ${quotedList(unknown)}; remove them`);
  for (const [name, value] of Object.entries({ provider, id, sub })) {
    if (typeof value !== 'string')
      throw new RegistrationError(`${quotedPublic(name)} must be a string`);
  }
  if (!SUBJECT.test(String(sub))) {
    throw new RegistrationError('sub must have 1 to 255 printable ASCII characters without spaces');
  }
  return {
    person: requirePerson({ provider: String(provider), id: String(id) }),
    subject: String(sub),
  };
}
