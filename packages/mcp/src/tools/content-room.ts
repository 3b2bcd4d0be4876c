/** The maximum total size of the resources in all answers to one HTTP request, in bytes. */
const MOST = 4 * 1024 * 1024;

/**
 * Counts how many bytes of resources the answers to one HTTP request can still contain. The request
 * can be a batch of messages, which share this limit. Results of tools do not count.
 */
export class ContentRoom {
  #left = MOST;

  /** Reserves this many bytes. If fewer are left, reserves nothing and returns false. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
