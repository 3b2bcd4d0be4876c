import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/**
 * Stores the text of a response's body with the response. Without this, the text could be read only
 * as a stream.
 */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** Returns the text of the response's body, or null if it was not stored with `madeOfText`. */
export function readBodyText(response: Response): string | null {
  return texts.of(response) ?? null;
}
