import type { RequestCheck } from '../../authorization/request-check.ts';
import { isSilent, promptValues } from '../../authorization/request-parameters.ts';
import { OAuthError } from '../../errors.ts';
import { quoted } from '../../quoting.ts';

/** Ten digits of seconds are more than three centuries. */
const MAX_AGE = /^[0-9]{1,10}$/;

/** Checks `prompt` (OpenID Connect Core section 3.1.2.1). Also accepts `login`. */
export const checkPrompt: RequestCheck = ({ parameters }) => {
  const prompt = parameters.get('prompt');
  if (isSilent(parameters)) return {};
  if ([...promptValues(prompt)].some((value) => value !== 'login' && value !== 'consent')) {
    throw new OAuthError(
      'invalid_request',
      'The only values of prompt are login, consent and none, and none stands alone.',
      `the prompt is ${quoted(prompt ?? '')}`,
    );
  }
  return {};
};

export const checkMaxAge: RequestCheck = ({ parameters }) => {
  const maxAge = parameters.get('max_age');
  if (maxAge === undefined || MAX_AGE.test(maxAge)) return {};
  throw new OAuthError(
    'invalid_request',
    'The max_age must be a whole number of seconds with at most ten digits.',
    `the max_age is ${quoted(maxAge)}`,
  );
};
