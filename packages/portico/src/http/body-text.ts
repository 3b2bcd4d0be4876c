import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/** Notes what the body of a response was made of: a Response gives it back through a stream alone. */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** The text of its body; null when nobody noted it. */
export function bodyTextOf(response: Response): string | null {
  return texts.of(response) ?? null;
}
