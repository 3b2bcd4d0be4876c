import type { Authentication, PersonReference, UserInterface } from 'portico';
import { isYes } from 'portico/extension';
import type { Accounts, Auth, AuthenticationMethod } from '../contracts.ts';
import type { CsrfTokens } from './csrf.ts';
import type { RequestSession } from './sessions.ts';

/** Finds the signed-in user of a request, from the session and the account's current state. */
export class RequestAuth implements Auth {
  readonly #session: RequestSession;
  readonly #accounts: Accounts;
  readonly #csrf: CsrfTokens;
  #user: Promise<UserInterface | null> | null = null;

  constructor(session: RequestSession, accounts: Accounts, csrf: CsrfTokens) {
    this.#session = session;
    this.#accounts = accounts;
    this.#csrf = csrf;
  }

  user(): Promise<UserInterface | null> {
    return (this.#user ??= this.#load());
  }

  person(): Promise<PersonReference | null> {
    return this.#session.person();
  }

  authentication(): Promise<Authentication | null> {
    return this.#session.authentication();
  }

  async signIn(person: PersonReference, method: AuthenticationMethod = {}): Promise<void> {
    this.#user = null;
    await this.#session.signIn(person, method);
  }

  async signOut(): Promise<void> {
    this.#user = null;
    await this.#session.signOut();
  }

  csrfToken(): Promise<string> {
    return this.#csrf.token();
  }

  async #load(): Promise<UserInterface | null> {
    const person = await this.#session.person();
    if (person === null) return null;
    const account = await this.#accounts.find(person);
    if (account !== null && isYes(account.isActive())) return account;
    // End the session of a user whose account is missing or inactive. Neither this user nor the
    // browser's next user may use it.
    await this.#session.signOut();
    return null;
  }
}
