import { randomBytes } from 'node:crypto';
import { isOverloaded, type Log } from '@portico/sql';
import { pageHeaders, returnPath, type Route, type WaitingFor } from 'portico';
import type { Application } from '../contracts.ts';
import {
  comesFromHere,
  isSentFromHere,
  noteWish,
  requestIdOf,
  type Said,
  type SignInLinks,
  told,
  type Words,
} from 'portico/extension';
import type { CsrfCheck } from './csrf.ts';
import { readBody } from '../http/body-limit.ts';
import { SHOW_PASSWORD_HASH, SHOW_PASSWORD_SCRIPT } from './show-password.ts';
import { csrfTokens } from './request-context.ts';
import { SignInSlowedError } from './sign-in.ts';

/** The largest sign-in form that is read, in bytes: the path to return to may be long. */
const FORM_LIMIT = 64 * 1024;

/** When to come back while more passwords are to be checked than can be, in seconds. */
const OVERLOADED_FOR = 2;

/** What the view `login` is rendered with, and so the slots in it. */
export interface SignInView extends Omit<SignInForm, 'error'>, Words {
  /** What is wrong, in words; null before the first attempt. */
  readonly error: string | null;
  /** Of the page, in words. */
  readonly title: string;
  /** The application's name for people. */
  readonly name: string;
  /** Where the form is posted. */
  readonly action: string;
  /** The form's field `_csrf`. */
  readonly csrfToken: string;
  /** Of the styles of this page, in its content security policy. */
  readonly nonce: string;
  /** For which application somebody signs in; null when the page was opened by itself. */
  readonly waiting: WaitingFor | null;
  /** Where a person with a forgotten password goes on; null for no link. */
  readonly forgotPassword: string | null;
  /** Where the terms are; null for no link. */
  readonly terms: string | null;
  /** The script of the button that shows the password, the one that the page may run without a nonce; null for no button. */
  readonly showPassword: string | null;
}

/** After an attempt, what was typed and what is wrong. */
interface SignInForm {
  /** Where people go on to, a path of this host: the form's field `return_to`. */
  readonly returnTo: string;
  /** What the field for the email address holds: what was typed, or the hint of the application that waits. */
  readonly identifier: string;
  /** What is wrong; null before the first attempt. */
  readonly error: Said | null;
  /** Whether the credentials are wrong; false when they were not checked. */
  readonly invalid: boolean;
}

/** How the kit's own pages are set up. */
export interface SignInSettings {
  /** The application's name for people. */
  readonly name: string;
  readonly csrf: CsrfCheck;
  /** Logs that there are more passwords to check than can be. */
  readonly logOverload: () => void;
  /** `sign_in_scripts`. */
  readonly scripts: boolean;
  /** `sign_in_show_password`. */
  readonly showsPassword: boolean;
  /** `sign_in_links`. */
  readonly links: SignInLinks | undefined;
  /** Who waits for a person to sign in, and come to this path. */
  readonly waitingFor: (request: Request, returnTo: string) => Promise<WaitingFor | null>;
  /** What stands before the paths in a request that arrives. */
  readonly mountPath: string;
  /** The application's first page, as browsers ask for it. */
  readonly home: string;
}

/**
 * The kit's own sign-in page. The form checks its CSRF token itself, so that a token that is no longer right is answered with the
 * page. Nothing is stored before a person is signed in.
 */
export class SignInPage {
  readonly #application: Application;
  readonly #settings: SignInSettings;

  constructor(application: Application, settings: SignInSettings) {
    this.#application = application;
    this.#settings = settings;
  }

  /** `login` and `login_submit`. */
  signInRoutes(): readonly Route[] {
    const path = `${this.#settings.mountPath}/login`;
    return [
      { name: 'login', methods: ['GET'], path, handler: (_, request) => this.#show(request) },
      { name: 'login_submit', methods: ['POST'], path, handler: (_, request) => this.#submit(request) },
    ];
  }

  /** `logout`. */
  signOutRoute(): Route {
    const { mountPath, home } = this.#settings;
    const handler = async () => {
      await this.#application.auth().signOut();
      return seeOther(home);
    };
    return { name: 'logout', methods: ['POST'], path: `${mountPath}/logout`, handler };
  }

  #show(request: Request): Promise<Response> {
    const returnTo = returnPath(new URL(request.url).searchParams.get('return_to'), this.#settings.home);
    return this.#page(request, 200, { returnTo, identifier: '', error: null, invalid: false });
  }

  async #submit(request: Request): Promise<Response> {
    const { csrf, home, logOverload } = this.#settings;
    const { log, accounts } = this.#application;
    const form = new URLSearchParams(Buffer.from(await readBody(request, FORM_LIMIT)).toString('utf8'));
    const identifier = form.get('identifier') ?? '';
    const returnTo = returnPath(form.get('return_to'), home);
    if (!csrf.isExempt('login_submit') && !(await this.#isOurs(request, form))) {
      logForgery(log, request, csrf.origin);
      const error = { key: 'sign_in.stale' } as const;
      return this.#page(request, 403, { returnTo, identifier: '', error, invalid: false });
    }
    try {
      const user = await accounts.authenticate(identifier, form.get('password') ?? '');
      if (user === null) {
        const error = { key: 'sign_in.wrong' } as const;
        return await this.#page(request, 401, { returnTo, identifier, error, invalid: true });
      }
      await this.#application.auth().signIn(user.reference);
      return seeOther(returnTo);
    } catch (failure) {
      const again = whenToTryAgain(failure);
      if (again === null) throw failure;
      if (isOverloaded(failure)) logOverload();
      const { status, error, seconds } = again;
      const headers = { 'Retry-After': String(seconds) };
      return this.#page(request, status, { returnTo, identifier, error, invalid: false }, headers);
    }
  }

  /**
   * Whether the form was sent from a page of this application: another site could sign a person in to an account of its own.
   * Signing in uses nothing of a session, so `Sec-Fetch-Site: same-origin` is enough. The token alone would fail in a fresh
   * browser with two tabs: each is given a cookie, and the browser keeps one.
   */
  async #isOurs(request: Request, form: URLSearchParams): Promise<boolean> {
    if (isSentFromHere(request)) return true;
    if (!comesFromHere(request, this.#settings.csrf.origin)) return false;
    return csrfTokens().acceptsToSignIn(request.headers.get('x-csrf-token') ?? form.get('_csrf'));
  }

  async #page(
    request: Request,
    status: number,
    { error, ...form }: SignInForm,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { name, scripts, showsPassword, links, waitingFor } = this.#settings;
    const { speaking, views } = this.#application;
    const nonce = randomBytes(16).toString('base64');
    const waiting = await waitingFor(request, form.returnTo);
    if (waiting !== null) noteWish(request, waiting.uiLocales);
    const words = await speaking.of(request);
    const view: SignInView = {
      ...words,
      title: words.t('sign_in.title'),
      name,
      action: speaking.withWish(request, this.#application.path('login_submit')),
      csrfToken: await csrfTokens().token(),
      nonce,
      waiting,
      forgotPassword: links?.forgot_password ?? null,
      terms: links?.terms ?? null,
      showPassword: showsPassword ? SHOW_PASSWORD_SCRIPT : null,
      ...form,
      error: error === null ? null : told(words, error),
      identifier: form.identifier === '' ? (waiting?.loginHint ?? '') : form.identifier,
    };
    const html = await views.render('login', { ...view });
    const scriptHash = showsPassword ? SHOW_PASSWORD_HASH : undefined;
    const own = pageHeaders(nonce, undefined, { scripts, scriptHash });
    return new Response(html, { status, headers: { ...own, ...speaking.headers(words), ...headers } });
  }
}

/** The same line that the check of every other route leaves in the log. */
function logForgery(log: Log, request: Request, origin: string): void {
  const detail = comesFromHere(request, origin)
    ? 'the CSRF token is missing or not of this browser'
    : 'the form comes from another site';
  const context = { route: 'login_submit', requestId: requestIdOf(request), status: 403, detail };
  log.info('{route} refused: {status} ({detail})', context);
}

/** For a sign-in whose password was not checked; null for a failure of another kind. */
function whenToTryAgain(
  failure: unknown,
): { readonly status: number; readonly seconds: number; readonly error: Said } | null {
  if (failure instanceof SignInSlowedError) {
    const seconds = failure.retryAfter;
    return { status: 429, seconds, error: { key: 'sign_in.slowed', values: { count: seconds } } };
  }
  if (isOverloaded(failure)) {
    return { status: 503, seconds: OVERLOADED_FOR, error: { key: 'sign_in.overloaded' } };
  }
  return null;
}

function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { Location: location, 'Cache-Control': 'no-store' } });
}
