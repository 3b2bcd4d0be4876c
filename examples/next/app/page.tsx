import { currentSession } from '../lib/session';
import { userById } from '../lib/users';

export default async function Home() {
  const { userId } = await currentSession();
  const user = userId === undefined ? null : userById(userId);
  return <p>{user?.name ?? 'No one'} is signed in</p>;
}
