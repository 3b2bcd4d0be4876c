import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/**
 * Stores a response's body text, because the text of a Response can otherwise be read only as a
 * stream.
 */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** Returns the response's body text, or null if it was not created with `madeOfText`. */
export function readBodyText(response: Response): string | null {
  return texts.of(response) ?? null;
}
