import { randomUUID } from 'node:crypto';
import type { Application } from '@portico/kit';
import { type Database, type Migration, type PersonReference, type Route, token } from 'portico';

/** A line of text that one person has written. */
export interface Note {
  readonly id: string;
  readonly text: string;
}

/** The maximum length of a note, in characters, without white space at its start and end. */
const LONGEST_NOTE = 2000;

/**
 * The routes of the notes API. Only `token()` protects them: a request needs a token, and its
 * cookies do not matter.
 */
export function noteRoutes({ database }: Application): readonly Route[] {
  return [
    {
      name: 'api.notes.index',
      methods: ['GET'],
      path: '/api/notes',
      async handler() {
        token().requireScope('notes:read');
        const user = token().user();
        // An application that acts for itself is not a person, so it has no notes.
        return Response.json({
          data: user === null ? [] : await notesOf(database, user.reference),
        });
      },
    },
    {
      name: 'api.notes.store',
      methods: ['POST'],
      path: '/api/notes',
      async handler(_, request) {
        token().requireScope('notes:write');
        const user = token().user();
        if (user === null)
          return Response.json(
            { error: 'Only people have notes, not applications.' },
            { status: 403 },
          );
        const input = await readNote(request);
        if ('refusal' in input) return input.refusal;
        const note = await addNote(database, user.reference, input.text);
        return Response.json({ data: note }, { status: 201 });
      },
    },
  ];
}

/** Returns a person's notes. The oldest comes first. */
export async function notesOf(
  database: Database,
  person: PersonReference,
): Promise<readonly Note[]> {
  const { rows } = await database.execute<Note>(
    'SELECT id, text FROM portal_notes WHERE user_provider = ? AND user_id = ? ORDER BY position',
    [person.provider, person.id],
  );
  return rows;
}

async function addNote(database: Database, person: PersonReference, text: string): Promise<Note> {
  const id = randomUUID();
  await database.execute(
    'INSERT INTO portal_notes (id, user_provider, user_id, text) VALUES (?, ?, ?, ?)',
    [id, person.provider, person.id, text],
  );
  return { id, text };
}

/** Returns the note in a request, or the response that says what is wrong with it. */
async function readNote(request: Request): Promise<{ text: string } | { refusal: Response }> {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json')
    return refuse(415, { error: 'The body must be application/json.' });
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return refuse(400, { error: 'The body is not valid JSON.' });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refuse(422, { error: 'The body must be a JSON object.' });
  }
  const text = 'text' in body && typeof body.text === 'string' ? body.text.trim() : '';
  // PostgreSQL cannot store NUL in a text.
  if (text === '' || text.length > LONGEST_NOTE || text.includes('\0')) {
    const expected = `The text must be 1 to ${LONGEST_NOTE} characters.`;
    return refuse(422, { error: 'The note is not valid.', fields: { text: [expected] } });
  }
  return { text };
}

function refuse(status: number, body: object): { refusal: Response } {
  return { refusal: Response.json(body, { status }) };
}

export const notesMigration: Migration = {
  name: 'portal_0001_notes',
  async up({ types: { counter, identifier, text }, change }) {
    await change(`CREATE TABLE portal_notes (
      position ${counter},
      id ${identifier} NOT NULL UNIQUE,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      text ${text} NOT NULL
    )`);
    await change('CREATE INDEX portal_notes_person ON portal_notes (user_provider, user_id)');
  },
};
