import bcrypt from 'bcryptjs';
import { returnPath } from 'portico';
import { Form, redirect, redirectDocument } from 'react-router';
import { commitSession, getSession } from '../sessions.server.ts';
import { userByEmail } from '../users.server.ts';
import type { Route } from './+types/login';

export async function action({ request }: Route.ActionArgs) {
  const form = await request.formData();
  const back = returnPath(new URL(request.url).searchParams.get('return_to'));
  const user = userByEmail(String(form.get('email')));
  if (user === null || !(await bcrypt.compare(String(form.get('password')), user.password_hash)))
    return redirect(`/login?return_to=${encodeURIComponent(back)}`);
  const session = await getSession(request.headers.get('Cookie'));
  session.set('userId', user.id);
  // Portico's pages are not components, so the browser must load them.
  return redirectDocument(back, {
    status: 303,
    headers: { 'Set-Cookie': await commitSession(session) },
  });
}

export default function Login() {
  return (
    <Form method="post">
      <label>
        Email <input name="email" />
      </label>
      <label>
        Password <input name="password" type="password" />
      </label>
      <button>Sign in</button>
    </Form>
  );
}
