import { randomBytes } from 'node:crypto';
import type { ReturnAddress } from '../../authorization/response-modes.ts';
import { answerGoesTo } from '../../clients/redirect-uris.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import type { Reply } from '../../endpoints/replies/responses.ts';
import type { SendingMode, SentResponse } from '../../endpoints/replies/sending.ts';
import type { Speaking } from '../../pages/speaking.ts';
import { told } from '../../pages/words.ts';
import { formPage, SUBMIT_HASH } from './page.ts';

/**
 * Matches an origin that a content security policy can name. Does not match IPv6 addresses, or
 * hosts with characters that end a source or a directive.
 */
const NAMEABLE_ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;
/** Browsers change these characters in a form. No client needs them in its state. */
const CHANGED_BY_FORMS = /[\0\r\n]/;

/**
 * Sends the response in a form that the browser posts (OAuth 2.0 Form Post Response Mode section
 * 2).
 */
export class FormPostMode implements SendingMode {
  readonly name = 'form_post';
  readonly #speaking: Speaking;

  constructor(speaking: Speaking) {
    this.#speaking = speaking;
  }

  problem({ redirectUri, state }: ReturnAddress): string | null {
    const { protocol, origin } = new URL(redirectUri);
    if (protocol !== 'https:' && protocol !== 'http:')
      return 'the redirect_uri has a private-use scheme, but browsers post only to http and https';
    if (!NAMEABLE_ORIGIN.test(origin))
      return 'a content security policy cannot contain the host of the redirect_uri';
    if (state !== null && CHANGED_BY_FORMS.test(state))
      return 'the state has a line break or a NUL, which a form cannot send unchanged';
    return null;
  }

  /**
   * By default, a script posts the form. If the page asks the user to confirm, or the browser runs
   * no scripts, the user clicks the button.
   */
  async send({ request, redirectUri, parameters, question }: SentResponse): Promise<Reply> {
    const words = await this.#speaking.of(request);
    const host = answerGoesTo(redirectUri);
    const nonce = randomBytes(16).toString('base64');
    const body = formPage({
      words,
      nonce,
      action: redirectUri,
      parameters,
      title:
        question === null ? words.t('response.title', { host }) : told(words, question.text.title),
      message: question === null ? words.t('response.message') : told(words, question.text.message),
      button: question === null ? words.t('response.continue') : told(words, question.action),
      submits: question === null,
    });
    const scriptHash = question === null ? SUBMIT_HASH : undefined;
    const headers = {
      ...pageHeaders(nonce, new URL(redirectUri).origin, { scriptHash }),
      'X-Robots-Tag': 'noindex',
      ...this.#speaking.headers(words),
    };
    return { status: question?.status ?? 200, body, headers };
  }
}
