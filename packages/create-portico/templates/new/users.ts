import { FailedAttempts } from 'portico/extension';

// Replace this with your own users and sign-in.
const users = [
  {
    id: '1',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    password: 'portico',
    permissions: ['orders:read'],
    suspended: false,
  },
];

export const userById = (id: string) => users.find((user) => user.id === id);

// Slows down guesses after five wrong passwords for an account.
const attempts = new FailedAttempts();

export async function checkPassword(email: unknown, password: unknown) {
  const user = users.find((each) => each.email === email);
  if (user === undefined) return undefined;
  const judge = async () => (user.password === password ? user : null);
  const attempt = await attempts.attempt([{ key: user.id, free: 5 }], judge);
  return attempt.outcome === 'right' ? attempt.value : undefined;
}

// Another site must not sign people in to its own account. Old browsers send only `Origin`.
export function isForeign(headers: Record<string, unknown>, own: string) {
  const { 'sec-fetch-site': site, origin = own } = headers;
  return site === undefined ? origin !== own : site !== 'same-origin' && site !== 'none';
}

export const loginPage = (returnTo: string) => `<!doctype html><title>Sign in</title>
  <form method="post" action="/login">
    <input type="hidden" name="return_to" value="${returnTo.replaceAll('&', '&amp;')}">
    <label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
    <button>Sign in</button>
  </form>`;
