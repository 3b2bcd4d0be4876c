import type { Application, Database, Migration, PersonReference, Route } from 'portico/host';
import { token } from 'portico/oauth-server';

export interface Note {
  readonly id: number;
  readonly text: string;
}

const LONGEST_NOTE = 2000;

/** The notes API. It is protected by `token()` alone: whatever cookie a request carries, only a token opens it. */
export function noteRoutes({ database }: Application): readonly Route[] {
  return [
    {
      name: 'api.notes.index',
      methods: ['GET'],
      path: '/api/notes',
      async handler() {
        token().requireScope('notes:read');
        const user = token().user();
        // An application by itself is nobody, and nobody has no notes.
        return Response.json({ data: user === null ? [] : await notesOf(database, user.reference) });
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
          return Response.json({ error: 'An application has no notes of its own.' }, { status: 403 });
        const input = await readNote(request);
        if ('refusal' in input) return input.refusal;
        const note = await addNote(database, user.reference, input.text);
        return Response.json({ data: note }, { status: 201 });
      },
    },
  ];
}

/** A person's notes, oldest first. */
export async function notesOf(database: Database, person: PersonReference): Promise<readonly Note[]> {
  const { rows } = await database.execute<Note>(
    'SELECT id, text FROM portal_notes WHERE user_provider = ? AND user_id = ? ORDER BY id',
    [person.provider, person.id],
  );
  return rows;
}

async function addNote(database: Database, person: PersonReference, text: string): Promise<Note> {
  return database.transaction(async (connection) => {
    await connection.execute(
      'INSERT INTO portal_notes (user_provider, user_id, text, created_at) VALUES (?, ?, ?, ?)',
      [person.provider, person.id, text, Date.now()],
    );
    const { rows } = await connection.execute<{ id: number }>(
      'SELECT MAX(id) AS id FROM portal_notes WHERE user_provider = ? AND user_id = ?',
      [person.provider, person.id],
    );
    return { id: rows[0]?.id ?? 0, text };
  });
}

async function readNote(request: Request): Promise<{ text: string } | { refusal: Response }> {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') return refuse(415, 'The body must be application/json.');
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return refuse(400, 'The body is not valid JSON.');
  }
  const text = typeof body === 'object' && body !== null && 'text' in body ? body.text : undefined;
  if (typeof text !== 'string' || text.trim() === '' || text.length > LONGEST_NOTE || text.includes('\0')) {
    return refuse(422, `The body must be an object whose text is 1 to ${LONGEST_NOTE} characters.`);
  }
  return { text: text.trim() };
}

function refuse(status: number, error: string): { refusal: Response } {
  return { refusal: Response.json({ error }, { status }) };
}

const ID_COLUMN = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgres: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  mysql: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
} as const;

export const notesMigration: Migration = {
  name: 'portal_0001_notes',
  async up({ dialect }, connection) {
    await connection.execute(`CREATE TABLE portal_notes (
      id ${ID_COLUMN[dialect]},
      user_provider VARCHAR(64) NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      text TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`);
    await connection.execute('CREATE INDEX portal_notes_person ON portal_notes (user_provider, user_id)');
  },
};
