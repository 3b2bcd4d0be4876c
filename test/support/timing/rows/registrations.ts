import type { World } from '../world.ts';
import {
  A_ROW,
  but,
  BYTES,
  HASHED,
  hex,
  random,
  REDIRECT_URI,
  SAME_WAY,
  UNKNOWN,
  type Fields,
  type Row,
} from './row.ts';

async function register(world: World) {
  const answer = await world.send(
    new Request(`${world.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' }),
    }),
  );
  const { client_id: id, registration_access_token: token } = (await answer.json()) as Fields;
  if (id === undefined || token === undefined)
    throw new Error(`Registering was answered ${answer.status}`);
  return { id, token };
}

function ofRegistrations(
  classes: readonly [string, string],
  offered: readonly [Registration, Registration],
): Row {
  return {
    name: 'Registration access token',
    classes,
    must: HASHED,
    ...(classes === BYTES ? SAME_WAY : A_ROW),
    async prepare(world) {
      const own = await register(world);
      const request = (which: Registration) => () => {
        const { id, token } = which(own);
        const headers = { Authorization: `Bearer ${token}` };
        return new Request(`${world.url}/oauth/register?client_id=${id}`, { headers });
      };
      return { requests: [request(offered[0]), request(offered[1])], status: 401 };
    },
  };
}

type Registration = (own: { readonly id: string; readonly token: string }) => {
  readonly id: string;
  readonly token: string;
};

export const REGISTRATIONS: readonly Row[] = [
  ofRegistrations(BYTES, [
    ({ id, token }) => ({ id, token: but(token, 0) }),
    ({ id, token }) => ({ id, token: but(token, -1) }),
  ]),
  ofRegistrations(
    ['a wrong one of a client', UNKNOWN],
    [({ id }) => ({ id, token: random() }), () => ({ id: hex(), token: random() })],
  ),
  {
    name: 'Initial access token',
    classes: ['a used one', 'an unknown one'],
    must: ['hash sha256'],
    ...A_ROW,
    async prepare(world) {
      const { token, id } = await world.server.initialAccessTokens.create({});
      await world.application.database.execute(
        'UPDATE oauth_initial_access_tokens SET uses_left = 0 WHERE id = ?',
        [id],
      );
      const request = (value: () => string) => () =>
        new Request(`${world.url}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${value()}` },
          body: JSON.stringify({
            redirect_uris: [REDIRECT_URI],
            token_endpoint_auth_method: 'none',
          }),
        });
      return { requests: [request(() => token), request(() => random())], status: 401 };
    },
  },
];
