import { userOfSession } from '../sessions.server.ts';
import type { Route } from './+types/home';

export async function loader({ request }: Route.LoaderArgs) {
  const user = await userOfSession(request);
  return { name: user?.name ?? 'No one' };
}

export default function Home({ loaderData }: Route.ComponentProps) {
  return <p>{loaderData.name} is signed in</p>;
}
