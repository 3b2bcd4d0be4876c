import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/**
 * Stores the text of the response's body with the response. Otherwise, the text could be read only
 * as a stream.
 */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** Returns the text that `madeOfText` stored, or null. */
export function readBodyText(response: Response): string | null {
  return texts.of(response) ?? null;
}
