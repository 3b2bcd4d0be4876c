import { randomBytes } from 'node:crypto';
import { isOverloaded, type Log } from '@portico/sql';
import {
  type BrandingView,
  pageHeaders,
  returnPath,
  type Route,
  type UserInterface,
  type WaitingFor,
} from 'portico';
import type { Application } from '../contracts.ts';
import {
  comesFromHere,
  isSentFromHere,
  noteWish,
  getRequestId,
  type Said,
  shownPerson,
  type SignInLinks,
  told,
  type Words,
} from 'portico/extension';
import type { CsrfCheck } from './csrf.ts';
import { readBody } from '../http/body-limit.ts';
import { SHOW_PASSWORD_HASH, SHOW_PASSWORD_SCRIPT } from './show-password.ts';
import { csrfTokens } from './request-context.ts';
import { SignInSlowedError } from './sign-in.ts';

/**
 * The maximum size of a submitted sign-in form, in bytes. The form contains the return path, which
 * can be long.
 */
const FORM_LIMIT = 64 * 1024;

/** How many seconds a browser should wait if too many password checks are queued. */
const OVERLOADED_FOR = 2;

/** The data that the view `login` and its slots receive. */
export interface SignInView extends Omit<SignInForm, 'error'>, Words {
  /** The error message, or null before the first attempt. */
  readonly error: string | null;
  /** The title of the page. */
  readonly title: string;
  /** The application's name, as shown to users. */
  readonly name: string;
  /** The URL to which the form is posted. */
  readonly action: string;
  /** The value of the form field `_csrf`. */
  readonly csrfToken: string;
  /**
   * The nonce that the content security policy allows for the page's styles, and for scripts if
   * `sign_in_scripts` is true.
   */
  readonly nonce: string;
  /** The logo and colors of the page. Missing if `branding` is not set. */
  readonly branding?: BrandingView;
  /**
   * The application that waits for the user to sign in. Null if the user opened the page directly.
   */
  readonly waiting: WaitingFor | null;
  /** The URL of the page for a forgotten password, or null if none is configured. */
  readonly forgotPassword: string | null;
  /** The URL of the terms, or null if none is configured. */
  readonly terms: string | null;
  /**
   * The script for the button that shows the password, or null if the page has no such button. The
   * content security policy allows this script by its hash, not by a nonce.
   */
  readonly showPassword: string | null;
}

/** The values of the sign-in form: what the user typed, and the error of the last attempt. */
interface SignInForm {
  /**
   * The path on this host to which the user returns after signing in. The form sends it in the
   * field `return_to`.
   */
  readonly returnTo: string;
  /**
   * The value of the email field. This is the text that the user typed. Before that, it is the
   * email address of the signed-in user (with `again`), or the hint from the waiting application.
   */
  readonly identifier: string;
  /** The error of the last attempt, or null before the first attempt. */
  readonly error: Said | null;
  /** Whether the password or the identifier was wrong. False if the password was not checked. */
  readonly invalid: boolean;
  /**
   * Whether the page asks a signed-in user to authenticate again. If true, the form must contain a
   * field `again`. Its value does not matter.
   */
  readonly again: boolean;
}

/** The settings of the sign-in page. */
export interface SignInSettings {
  /** The application's name, as shown to users. */
  readonly name: string;
  readonly csrf: CsrfCheck;
  /** Logs a warning that too many password checks are queued. */
  readonly logOverload: () => void;
  /** The setting `sign_in_scripts`. */
  readonly scripts: boolean;
  /** The setting `sign_in_show_password`. */
  readonly showsPassword: boolean;
  /** The setting `sign_in_links`. */
  readonly links: SignInLinks | undefined;
  /**
   * Returns the application that waits for the user to sign in and return to this path, or null if
   * no application waits.
   */
  readonly waitingFor: (request: Request, returnTo: string) => Promise<WaitingFor | null>;
  /** The path prefix of the requests that reach the application. */
  readonly mountPath: string;
  /**
   * The path of the application's first page, as browsers request it. Users go there after signing
   * out, and after signing in if the page has no valid `return_to`.
   */
  readonly home: string;
}

/**
 * The kit's own sign-in page. It checks the CSRF token itself, so that it can show the form again
 * if the token is outdated. It stores nothing until a user signs in.
 */
export class SignInPage {
  readonly #application: Application;
  readonly #settings: SignInSettings;

  constructor(application: Application, settings: SignInSettings) {
    this.#application = application;
    this.#settings = settings;
  }

  /** Returns the routes `login` and `login_submit`. */
  signInRoutes(): readonly Route[] {
    const path = `${this.#settings.mountPath}/login`;
    return [
      { name: 'login', methods: ['GET'], path, handler: (_, request) => this.#show(request) },
      {
        name: 'login_submit',
        methods: ['POST'],
        path,
        handler: (_, request) => this.#submit(request),
      },
    ];
  }

  /** Returns the route `logout`. */
  signOutRoute(): Route {
    const { mountPath, home } = this.#settings;
    const handler = async () => {
      await this.#application.auth().signOut();
      return seeOther(home);
    };
    return { name: 'logout', methods: ['POST'], path: `${mountPath}/logout`, handler };
  }

  #show(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const returnTo = returnPath(searchParams.get('return_to'), this.#settings.home);
    const again = searchParams.has('again');
    return this.#page(request, 200, {
      returnTo,
      again,
      identifier: '',
      error: null,
      invalid: false,
    });
  }

  async #submit(request: Request): Promise<Response> {
    const { csrf, home, logOverload } = this.#settings;
    const { log, accounts } = this.#application;
    const form = new URLSearchParams(
      Buffer.from(await readBody(request, FORM_LIMIT)).toString('utf8'),
    );
    const identifier = form.get('identifier') ?? '';
    const returnTo = returnPath(form.get('return_to'), home);
    const typed = { returnTo, again: form.has('again'), identifier };
    if (!csrf.isExempt('login_submit') && !(await this.#isOurs(request, form))) {
      logForgery(log, request, csrf.origin);
      const error = { key: 'sign_in.stale' } as const;
      return this.#page(request, 403, { ...typed, identifier: '', error, invalid: false });
    }
    try {
      const user = await accounts.authenticate(identifier, form.get('password') ?? '');
      if (user === null || !(await this.#signIn(user))) {
        const error = { key: 'sign_in.wrong' } as const;
        return await this.#page(request, 401, { ...typed, error, invalid: true });
      }
      return seeOther(returnTo);
    } catch (failure) {
      const again = whenToTryAgain(failure);
      if (again === null) throw failure;
      if (isOverloaded(failure)) logOverload();
      const { status, error, seconds } = again;
      const headers = { 'Retry-After': String(seconds) };
      return this.#page(request, status, { ...typed, error, invalid: false }, headers);
    }
  }

  /**
   * Signs the user in. Returns false, and leaves no session, if the account has been suspended
   * while the password was checked: its sessions may have been ended before this one began. Also
   * leaves no session if the account cannot be loaded.
   */
  async #signIn({ reference }: UserInterface): Promise<boolean> {
    const auth = this.#application.auth();
    await auth.signIn(reference, { amr: ['pwd'] });
    try {
      return (await auth.user()) !== null;
    } catch (failure) {
      await auth.signOut();
      throw failure;
    }
  }

  /**
   * Whether a page of this application sent the form. Without this check, another site could sign
   * the user in to the attacker's account.
   *
   * `Sec-Fetch-Site: same-origin` is enough, because signing in uses no data from the session. Do
   * not rely only on the token. If a new browser opens the page in two tabs, each gets a new
   * cookie, and the browser keeps only one of them.
   */
  async #isOurs(request: Request, form: URLSearchParams): Promise<boolean> {
    if (isSentFromHere(request)) return true;
    if (!comesFromHere(request, this.#settings.csrf.origin)) return false;
    return csrfTokens().acceptsToSignIn(request.headers.get('x-csrf-token') ?? form.get('_csrf'));
  }

  async #page(
    request: Request,
    status: number,
    { error, again, ...form }: SignInForm,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { name, scripts, showsPassword, links, waitingFor } = this.#settings;
    const { speaking, views } = this.#application;
    const nonce = randomBytes(16).toString('base64');
    const waiting = await waitingFor(request, form.returnTo);
    if (waiting !== null) noteWish(request, waiting.uiLocales);
    const words = await speaking.of(request);
    const user = again ? await this.#application.auth().user() : null;
    const hint = (user === null ? waiting?.loginHint : shownPerson(user).email) ?? '';
    const view: SignInView = {
      ...words,
      title: words.t(user === null ? 'sign_in.title' : 'sign_in.again'),
      name,
      action: speaking.withWish(request, this.#application.path('login_submit')),
      csrfToken: await csrfTokens().token(),
      nonce,
      waiting,
      forgotPassword: links?.forgot_password ?? null,
      terms: links?.terms ?? null,
      showPassword: showsPassword ? SHOW_PASSWORD_SCRIPT : null,
      ...form,
      again: user !== null,
      error: error === null ? null : told(words, error),
      identifier: form.identifier === '' ? hint : form.identifier,
    };
    const html = await views.render('login', { ...view });
    const scriptHash = showsPassword ? SHOW_PASSWORD_HASH : undefined;
    const own = pageHeaders(nonce, undefined, { scripts, scriptHash });
    return new Response(html, {
      status,
      headers: { ...own, ...speaking.headers(words), ...headers },
    });
  }
}

/** Logs a rejected form in the same format as the CSRF check of other routes. */
function logForgery(log: Log, request: Request, origin: string): void {
  const detail = comesFromHere(request, origin)
    ? 'the CSRF token is missing or belongs to another browser'
    : 'another site sent the form';
  const context = { route: 'login_submit', requestId: getRequestId(request), status: 403, detail };
  log.info('{route} refused: {status} ({detail})', context);
}

/**
 * Returns how to respond to a sign-in that was rejected without checking the password: the status,
 * the error, and how long to wait. Returns null for all other failures.
 */
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
  return new Response(null, {
    status: 303,
    headers: { Location: location, 'Cache-Control': 'no-store' },
  });
}
