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

export const checkPassword = (email: unknown, password: unknown) =>
  users.find((user) => user.email === email && user.password === password);

export const loginPage = (returnTo: string) => `<!doctype html><title>Sign in</title>
  <form method="post" action="/login">
    <input type="hidden" name="return_to" value="${returnTo.replaceAll('&', '&amp;')}">
    <label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
    <button>Sign in</button>
  </form>`;
