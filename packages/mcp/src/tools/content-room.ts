/** The maximum size of the content in all answers to one HTTP request together, in bytes. */
const MOST = 4 * 1024 * 1024;

/**
 * The number of bytes that the answers to one HTTP request can still use. The request can be a
 * batch of messages.
 */
export class ContentRoom {
  #left = MOST;

  /** Takes this many bytes. If fewer remain, takes nothing and returns false. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
