import { Note } from './note.ts';

const texts = new Note<string>('text of the body');

/** Remembers a response's body text, because a Response returns its body only as a stream. */
export function madeOfText(response: Response, text: string): Response {
  texts.set(response, text);
  return response;
}

/** Returns the response's body text, or null if `madeOfText` was not called for the response. */
export function readBodyText(response: Response): string | null {
  return texts.of(response) ?? null;
}
