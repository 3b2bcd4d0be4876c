import type { Visitor } from '../../host/accounts.ts';
import { notAccepted } from '../../authorization/consent-errors.ts';
import { shownPerson } from '../../authorization/page-data.ts';
import { refuseBearer } from '../../authorization/refuse-bearer.ts';
import { tokenHash } from '../../crypto.ts';
import { AuthorizationPageError } from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import { formToken, isFormToken } from '../../host/form-token.ts';
import { getRequestId } from '../../http/request-id.ts';
import { formParameters, queryParameters, type Parameters } from '../../parameters.ts';
import { noteClient } from '../../refusals.ts';
import { messageReply, type MessagePage } from '../../endpoints/replies/message-page.ts';
import { pageReply, redirectReply } from '../../endpoints/replies/pages.ts';
import type { Reply } from '../../endpoints/replies/responses.ts';
import type { Server } from '../../server.ts';
import type { PageKey } from '../../pages/english.ts';
import { page } from '../../pages/words.ts';
import { Approvals, type AnsweredQuestion, type OpenRequest } from './approvals.ts';
import type { DeviceCodes } from './codes.ts';
import { Guesses } from './guesses.ts';
import { deviceQuestion } from './question.ts';
import { LONGEST_TYPED, readUserCode, shownUserCode } from './user-code.ts';
import type { DeviceView } from './view.ts';

/** The path below `base_path`. */
export const DEVICE_PATH = '/oauth/device';

/** The name of this page in error messages. */
const PLACE = 'The page for device codes';

type Problem = 'mistyped' | 'unknown' | 'slowed';

/**
 * A signed-in user enters the code of a device here and answers its request (RFC 8628 section 3.3).
 */
export class VerificationPage {
  readonly #server: Server;
  readonly #parts: Parts;
  readonly #approvals: Approvals;
  readonly #guesses: Guesses;
  /** The path of the page, as browsers request it. */
  readonly #path: string;

  constructor(server: Server, parts: Parts, codes: DeviceCodes) {
    this.#server = server;
    this.#parts = parts;
    this.#approvals = new Approvals(server, parts, codes);
    this.#guesses = new Guesses(server.clock);
    this.#path = `${server.basePath}${DEVICE_PATH}`;
  }

  /**
   * Handles GET. Shows the form for the code. A code in the link fills in the form, but the server
   * does not look it up yet.
   */
  async show(request: Request): Promise<Reply> {
    refuseBearer(request, this.#parts.binding, PLACE);
    const asked = queryParameters(request);
    const sent = asked.isRepeated('user_code') ? '' : (asked.get('user_code') ?? '');
    const userCode = readUserCode(sent);
    const visitor = await this.#server.accounts.visitor(request);
    if (visitor === null) return redirectReply(this.#signInUrl(request, userCode), 302);
    return this.#askForCode(visitor, userCode === null ? sent : shownUserCode(userCode), {
      isFromLink: userCode !== null,
    });
  }

  /** Handles POST. The form contains the code, the user's answer, or the request to sign out. */
  async answer(request: Request): Promise<Reply> {
    refuseBearer(request, this.#parts.binding, PLACE);
    const form = await formParameters(request);
    const visitor = await this.#server.accounts.visitor(request);
    const userCode = readUserCode(form.get('user_code') ?? '');
    if (visitor === null) return redirectReply(this.#signInUrl(request, userCode), 303);
    const decision = form.get('decision') ?? '';
    if (decision === 'allow' || decision === 'deny')
      return this.#decide(visitor, form, userCode ?? '', decision);
    if (form.has('scope')) requireQuestion(form, visitor, userCode ?? '');
    else requireToken(form.get('csrf_token'), visitor, codeForm(visitor));
    if (decision === 'switch') return this.#switchPerson(visitor, userCode);
    return this.#checkCode(visitor, form.get('user_code') ?? '', userCode);
  }

  async #checkCode(visitor: Visitor, typed: string, userCode: string | null): Promise<Reply> {
    if (userCode === null) return this.#askForCode(visitor, typed, { problem: 'mistyped' });
    const find = () => this.#approvals.findOpen(userCode, visitor);
    const attempt = await this.#guesses.attempt(visitor, find);
    if (attempt.outcome === 'right') return this.#ask(visitor, userCode, attempt.value);
    if (attempt.outcome === 'wrong')
      return this.#askForCode(visitor, typed, { problem: 'unknown' });
    if (attempt.first)
      this.#server.host.log.warning(
        'A person sent many wrong device codes, and must now wait before the next attempt',
        {
          requestId: getRequestId(visitor.request),
          person: visitor.user.reference,
        },
      );
    const retryAfter = String(Math.ceil(attempt.wait / 1000));
    return this.#askForCode(visitor, typed, { problem: 'slowed', retryAfter });
  }

  async #askForCode(
    visitor: Visitor,
    typed: string,
    about: {
      readonly isFromLink?: boolean;
      readonly problem?: Problem;
      readonly retryAfter?: string;
    },
  ): Promise<Reply> {
    const { isFromLink = false, problem = null, retryAfter } = about;
    const words = await this.#server.speaking.of(visitor.request);
    const reply = await this.#page(visitor, problem === null ? 200 : PROBLEMS[problem].status, {
      csrfToken: formToken(visitor, ...codeForm(visitor)),
      userCode: typed.slice(0, LONGEST_TYPED),
      isFromLink,
      problem: problem === null ? null : words.t(PROBLEMS[problem].key),
      question: null,
    });
    if (problem === null) return reply;
    const headers =
      retryAfter === undefined ? reply.headers : { ...reply.headers, 'Retry-After': retryAfter };
    return { ...reply, headers, refused: refusalOf(problem) };
  }

  async #ask(visitor: Visitor, userCode: string, open: OpenRequest): Promise<Reply> {
    const { client, scopes } = open;
    noteClient(visitor.request, client.id);
    if (scopes.length === 0) throw this.#nothingHeld(client.name);
    const { speaking, paths } = this.#server;
    const words = await speaking.of(visitor.request);
    const { logos, accessPath } = this.#parts;
    const question = deviceQuestion(open, this.#server, words, {
      logoPath: logos?.path ?? null,
      applicationsPath: speaking.withWish(visitor.request, accessPath ?? paths.home),
    });
    const id = await this.#approvals.keepQuestion(open, visitor);
    const about = answerForm(visitor, userCode, question.scope, id);
    return this.#page(visitor, 200, {
      csrfToken: `${id}.${formToken(visitor, ...about)}`,
      userCode: shownUserCode(userCode),
      isFromLink: false,
      problem: null,
      question,
    });
  }

  /**
   * Records the user's answer. The token in the form proves that this user has seen exactly this
   * consent request.
   */
  async #decide(
    visitor: Visitor,
    form: Parameters,
    userCode: string,
    decision: 'allow' | 'deny',
  ): Promise<Reply> {
    const question = requireQuestion(form, visitor, userCode);
    const isDone =
      decision === 'allow'
        ? await this.#approvals.allow(userCode, question, visitor)
        : await this.#approvals.deny(userCode, question, visitor);
    if (!isDone) throw notOpen();
    return this.#message(visitor, decision === 'allow' ? 'device.allowed' : 'device.denied');
  }

  /**
   * Signs the user out, so another user can sign in. The page then shows the code in the form
   * again.
   */
  async #switchPerson(visitor: Visitor, userCode: string | null): Promise<Reply> {
    const { host, config } = this.#server;
    const returnTo = this.#returnPath(userCode);
    const next = await host.signOut(visitor.request, returnTo);
    if (next !== null) return redirectReply(next, 303);
    return this.#message(visitor, 'error.sign_out_first', {
      href: returnTo,
      text: { key: 'error.sign_out_first.link', values: { server: config.name } },
    });
  }

  async #page(
    visitor: Visitor,
    status: number,
    data: Omit<DeviceView, 'serverName' | 'person' | 'action'>,
  ): Promise<Reply> {
    const { config, speaking, issuer } = this.#server;
    const { request, user } = visitor;
    return pageReply(this.#server, {
      words: await speaking.of(request),
      view: 'oauth/device',
      status,
      data: {
        serverName: config.name,
        person: shownPerson(user),
        action: speaking.withWish(request, this.#path),
        ...data,
      },
      formLeadsTo: issuer,
    });
  }

  /** Without `link`, the page links to the start page. */
  #message({ request }: Visitor, key: PageKey, link?: MessagePage['link']): Promise<Reply> {
    const { config, paths } = this.#server;
    const values = { server: config.name };
    return messageReply(this.#server, request, {
      text: page(key, values),
      status: 200,
      link: link ?? { href: paths.home, text: { key: 'applications.back', values } },
      requestId: null,
    });
  }

  #nothingHeld(client: string): AuthorizationPageError {
    return new AuthorizationPageError(
      page('device.nothing', { client }),
      'the person has no permission for the requested scopes',
    );
  }

  /** After sign-in, the browser comes back to this page. */
  #signInUrl(request: Request, userCode: string | null): string {
    const { speaking, host } = this.#server;
    const back = speaking.withWish(request, this.#returnPath(userCode));
    return speaking.withWish(request, host.loginUrl(back));
  }

  #returnPath(userCode: string | null): string {
    return userCode === null ? this.#path : `${this.#path}?user_code=${shownUserCode(userCode)}`;
  }
}

const PROBLEMS = {
  mistyped: { key: 'device.mistyped', status: 400, detail: 'the code is not valid' },
  unknown: { key: 'device.unknown', status: 400, detail: 'no device is waiting for this code' },
  slowed: { key: 'device.slowed', status: 429, detail: 'this person sent too many wrong codes' },
} as const;

/** The error for the log if the server does not accept a code. */
function refusalOf(problem: Problem): AuthorizationPageError {
  const { key, detail } = PROBLEMS[problem];
  const text = { title: { key: 'device.page' }, message: { key } } as const;
  return new AuthorizationPageError(text, detail, { code: `user_code_${problem}` });
}

function notOpen(): AuthorizationPageError {
  const detail =
    'the request of the device was already answered, has ended or expired, or its client lost ' +
    'its access';
  return new AuthorizationPageError(page('error.not_answerable'), detail);
}

/**
 * Returns the consent request that this form answers. Its id is at the start of the token. Throws
 * if the token is not valid.
 */
function requireQuestion(form: Parameters, visitor: Visitor, userCode: string): AnsweredQuestion {
  const scope = form.get('scope') ?? '';
  const [id = '', token] = (form.get('csrf_token') ?? '').split('.');
  requireToken(token, visitor, answerForm(visitor, userCode, scope, id));
  return { id, scopes: scope.split(' ') };
}

function requireToken(sent: string | undefined, visitor: Visitor, about: readonly string[]): void {
  if (!isFormToken(sent, visitor, ...about))
    throw notAccepted('the csrf_token is not valid for this form, person and browser session');
}

/** Returns the values that the CSRF token of the code form is bound to. */
function codeForm({ user }: Visitor): readonly string[] {
  const { provider, id } = user.reference;
  return ['oauth/device', provider, id];
}

/** Returns the values that the CSRF token of the answer form is bound to. */
function answerForm(
  { user }: Visitor,
  userCode: string,
  scope: string,
  question: string,
): readonly string[] {
  const { provider, id } = user.reference;
  return ['oauth/device/answer', tokenHash(userCode), scope, provider, id, question];
}
