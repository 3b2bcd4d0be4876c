import type { PersonReference } from '../person.ts';
import type { Server } from '../server.ts';
import { BATCH, inBatches, inSteps } from '../store/batches.ts';

/** How often the removal of a person's access is repeated at most. */
const MOST_PASSES = 5;

/** What `erasePerson` removed. */
export interface ErasedPerson {
  /** How many authorizations were removed, including those that had already ended. */
  readonly authorizations: number;
  /** How many consent requests were removed, including those that the person had answered. */
  readonly requests: number;
  /** True if the person's subject (the public identifier `sub`) was removed. */
  readonly subject: boolean;
  /** The number of stored audit events in which a pseudonym now replaces the person. */
  readonly events: number;
}

/** Removes what a feature has stored about a person. Returns true if it removed anything. */
export type ForgetsPerson = (person: PersonReference) => Promise<boolean | void>;

/** Erases a person. Counts the removed data, even if a step fails. */
export class Erasing {
  readonly #server: Server;
  readonly #forgetting: readonly ForgetsPerson[];
  readonly #erased = { authorizations: 0, requests: 0, subject: false, events: 0 };
  #hasErasedMore = false;

  constructor(server: Server, forgetting: readonly ForgetsPerson[]) {
    this.#server = server;
    this.#forgetting = forgetting;
  }

  get erased(): ErasedPerson {
    return this.#erased;
  }

  get hasErased(): boolean {
    const { authorizations, requests, subject, events } = this.#erased;
    return this.#hasErasedMore || subject || authorizations + requests + events > 0;
  }

  async erase(
    person: PersonReference,
    pseudonym: string,
    report?: (authorizations: number) => void,
  ): Promise<void> {
    const { audit } = this.#server;
    const erased = this.#erased;
    // Repeat this after it has removed something, because a request that was running may have
    // assigned a new subject. Stop at some point, even if the person continues to allow access.
    for (let pass = 0; pass < MOST_PASSES; pass += 1)
      if (!(await this.#removeAccess(person, report))) break;
    for (const forget of this.#forgetting)
      if ((await forget(person)) === true) this.#hasErasedMore = true;
    await inBatches(async () => {
      const count = await audit.pseudonymise(person, pseudonym, BATCH);
      erased.events += count;
      return { count, more: count > 0 };
    });
  }

  /** Removes the subject, access and requests. Returns true if there was access or a request. */
  async #removeAccess(
    person: PersonReference,
    report?: (authorizations: number) => void,
  ): Promise<boolean> {
    const { store } = this.#server;
    const erased = this.#erased;
    const { authorizations: before, requests } = erased;
    // Remove the subject first, because a running request may already have read it. The steps below
    // then remove that request, or the authorization that it has become.
    if (await store.subjects.forgetSubject(person)) erased.subject = true;
    const wasGiven = (await this.#server.givenAccess()?.forget(person)) === true;
    this.#hasErasedMore ||= wasGiven;
    await inSteps(async (after) => {
      const step = await store.consentRequests.endRequestsOfPerson(person, after, BATCH, true);
      erased.requests += step.ended;
      return step;
    });
    await inBatches(
      async () => {
        const { removed, more } = await store.authorizations.removeFamiliesOfPerson(person, BATCH);
        erased.authorizations += removed;
        return { count: removed, more };
      },
      (count) => report?.(before + count),
    );
    return wasGiven || erased.requests > requests || erased.authorizations > before;
  }
}
