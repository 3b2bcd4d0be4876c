export default async function Login({ searchParams }: PageProps<'/login'>) {
  const { return_to: returnTo } = await searchParams;
  return (
    <form method="post" action="/login/submit">
      <input type="hidden" name="return_to" value={typeof returnTo === 'string' ? returnTo : '/'} />
      <label>
        Email <input name="email" />
      </label>
      <label>
        Password <input name="password" type="password" />
      </label>
      <button>Sign in</button>
    </form>
  );
}
