import { isYes } from '../../contracts/answers.ts';
import type { UserInterface } from '../../contracts/person.ts';
import type { Accounts, Auth } from '../contracts.ts';
import type { CsrfTokens } from './csrf.ts';
import type { RequestSession } from './sessions.ts';

/** Who is signed in, by the session of one request and the account as it is now. */
export function createAuth(session: RequestSession, accounts: Accounts, csrf: CsrfTokens): Auth {
  let user: Promise<UserInterface | null> | null = null;

  async function load(): Promise<UserInterface | null> {
    const person = await session.person();
    if (person === null) return null;
    const account = await accounts.find(person);
    if (account !== null && isYes(account.isActive())) return account;
    // An inactive person cannot go on in this session, and the next one must not begin in it.
    await session.signOut();
    return null;
  }

  return {
    user: () => (user ??= load()),
    person: () => session.person(),
    async signIn(person) {
      user = null;
      await session.signIn(person);
    },
    async signOut() {
      user = null;
      await session.signOut();
    },
    csrfToken: () => csrf.token(),
  };
}
