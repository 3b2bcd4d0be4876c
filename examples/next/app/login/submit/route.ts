import bcrypt from 'bcryptjs';
import { returnPath } from 'portico';
import { currentSession } from '../../../lib/session';
import { userByEmail } from '../../../lib/users';

export async function POST(request: Request) {
  // Another site must not sign people in.
  if (/^(cross|same)-site$/.test(request.headers.get('sec-fetch-site') ?? ''))
    return new Response('Forbidden', { status: 403 });
  const form = await request.formData();
  const back = returnPath(String(form.get('return_to')));
  const user = userByEmail(String(form.get('email')));
  if (user === null || !(await bcrypt.compare(String(form.get('password')), user.password_hash)))
    return new Response(null, {
      status: 303,
      headers: { Location: `/login?return_to=${encodeURIComponent(back)}` },
    });
  const session = await currentSession();
  session.userId = user.id;
  await session.save();
  return new Response(null, { status: 303, headers: { Location: back } });
}
