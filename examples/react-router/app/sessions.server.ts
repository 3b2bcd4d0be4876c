import { createCookieSessionStorage } from 'react-router';
import { userById, type User } from './users.server.ts';

export const { getSession, commitSession, destroySession } = createCookieSessionStorage<{
  userId: number;
}>({
  cookie: {
    name: '__session',
    httpOnly: true,
    path: '/',
    sameSite: 'lax',
    secure: process.env.PUBLIC_URL?.startsWith('https:') ?? true,
    secrets: [process.env.SESSION_SECRET ?? ''],
  },
});

export async function userOfSession(request: Request): Promise<User | null> {
  const session = await getSession(request.headers.get('Cookie'));
  const user = userById(session.get('userId') ?? 0);
  return user?.suspended === 0 ? user : null;
}
