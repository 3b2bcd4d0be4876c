import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/** Remembers the text of a response's body. A Response returns it only as a stream. */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** The text of its body. Null if it was not remembered. */
export function readBodyText(response: Response): string | null {
  return texts.of(response) ?? null;
}
