/** How many bytes of content the answers to one HTTP request may have together. */
const MOST = 4 * 1024 * 1024;

/** What is left of it for one HTTP request, whose messages can be a batch. */
export class ContentRoom {
  #left = MOST;

  /** Takes this many bytes. Returns false, and takes none, if there are fewer. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
