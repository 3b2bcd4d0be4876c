// The session is stored in an encrypted cookie.
import { getIronSession } from 'iron-session';
import { cookies } from 'next/headers';

export async function currentSession() {
  return getIronSession<{ userId?: number }>(await cookies(), {
    cookieName: 'session',
    password: process.env.SESSION_SECRET ?? '',
    cookieOptions: {
      secure: process.env.PUBLIC_URL?.startsWith('https:') ?? false,
      sameSite: 'lax',
    },
  });
}
