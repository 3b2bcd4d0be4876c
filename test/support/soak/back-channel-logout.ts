import { EventEmitter, once } from 'node:events';
import { basic } from '../assistant.ts';
import { startDocumentHost } from '../document-host.ts';
import { REDIRECT_URI, VERIFIER } from '../portal.ts';
import { createVisitor, locationOf, type Visitor } from '../visitor.ts';
import { consentOf, expectStatus, inBatches, requestOf, type Path } from './path.ts';
import type { Soaked } from './soak.ts';

/**
 * The answers to the tokens of one sign-out: delivered, refused, or delivered at the second try.
 */
const ANSWERS = [[200], [400], [503, 204], [200]] as const;

/**
 * Signs a person in to an application and out again. Waits until the application has received the
 * logout token.
 */
export async function backChannelLogout({ url, told }: Soaked): Promise<Path> {
  if (told === null) throw new Error('Only the kit tells when a session ends');
  const { port, pathname } = new URL(told.uri);
  const host = await startDocumentHost('127.0.0.1', Number(port));
  const receiving = new EventEmitter();
  let answers: number[] = [];
  host.answer(pathname, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(answers.shift() ?? 200).end();
      receiving.emit('token');
    });
  });
  const visitor = createVisitor(url);
  const signInAndOut = async (number: number) => {
    const expected = ANSWERS[number % ANSWERS.length] ?? [200];
    answers = [...expected];
    await signIn(visitor, url, told);
    const page = await visitor.visit(`${url}/oauth/logout`);
    const first = once(receiving, 'token');
    await expectStatus(200, visitor.submit(page, { decision: 'logout' }));
    await first;
    if (expected.length > 1) await once(receiving, 'token');
  };
  return { ...inBatches(1, signInAndOut), close: () => host.close() };
}

async function signIn(
  visitor: Visitor,
  url: string,
  told: NonNullable<Soaked['told']>,
): Promise<void> {
  const consent = await consentOf(visitor, requestOf(url, told.id, 'openid'));
  const back = locationOf(await visitor.submit(consent, { decision: 'allow' }));
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  const headers = { Authorization: basic(told) };
  await expectStatus(200, fetch(`${url}/oauth/token`, { method: 'POST', headers, body }));
}
