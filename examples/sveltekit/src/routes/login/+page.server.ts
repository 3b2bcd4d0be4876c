import { redirect } from '@sveltejs/kit';
import bcrypt from 'bcryptjs';
import { returnPath } from 'portico';
import { createSession, userByEmail } from '../../lib/server/users.ts';

export const actions = {
  async default({ request, url, cookies }) {
    const form = await request.formData();
    const user = userByEmail(String(form.get('email')));
    if (user === null || !(await bcrypt.compare(String(form.get('password')), user.password_hash)))
      return { refused: true };
    cookies.set('session', createSession(user), { path: '/', httpOnly: true, sameSite: 'lax' });
    redirect(303, returnPath(url.searchParams.get('return_to')));
  },
};
