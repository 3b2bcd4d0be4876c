import { fieldsOf, openBrowser, type Browser } from '../browser.ts';
import { ADA, PASSWORD, type World } from '../world.ts';
import {
  basic,
  CHALLENGE,
  newClient,
  post,
  REDIRECT_URI,
  VERIFIER,
  type NewClient,
} from './row.ts';

/** What a person has allowed to a client. */
export interface Granted {
  readonly client: NewClient;
  readonly browser: Browser;
  readonly accessToken: string;
  readonly refreshToken: string;
}

export const authorizationOf = ({ id }: NewClient) =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    scope: 'notes:read',
  })}`;

export async function signedIn(world: World): Promise<Browser> {
  const browser = openBrowser(world);
  const answer = await browser.post('/login', { identifier: ADA, password: PASSWORD });
  if (answer.status !== 303) throw new Error(`Signing in was answered ${answer.status}`);
  return browser;
}

export async function codeOf(world: World, client: NewClient, browser: Browser): Promise<string> {
  const fields = fieldsOf(await browser.get(authorizationOf(client)));
  const answer = await browser.post('/oauth/authorize', { ...fields, decision: 'allow' });
  const code = new URL(answer.headers.get('location') ?? '', world.url).searchParams.get('code');
  if (code === null)
    throw new Error(`Consent was answered ${answer.status}: ${await answer.text()}`);
  return code;
}

export const redeeming = (code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: REDIRECT_URI,
  code_verifier: VERIFIER,
});

export async function granted(world: World): Promise<Granted> {
  const [client, browser] = [await newClient(world), await signedIn(world)];
  const fields = redeeming(await codeOf(world, client, browser));
  const answer = await world.send(
    post(world, '/oauth/token', fields, basic(client.id, client.secret)),
  );
  const { access_token: accessToken, refresh_token: refreshToken } =
    (await answer.json()) as Record<string, string>;
  if (accessToken === undefined || refreshToken === undefined)
    throw new Error(`No tokens: ${answer.status}`);
  return { client, browser, accessToken, refreshToken };
}
