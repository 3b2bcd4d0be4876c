import {
  refuseMaxAge,
  refuseRepeatedParameters,
  refuseRequestObjects,
  refuseSilent,
  requirePkce,
  requirePrompt,
  requireResource,
  requireResponseType,
  requireThumbprint,
  sentParameters,
} from '../../../packages/portico/src/authorization/request-parameters.ts';
import { ResponseModes } from '../../../packages/portico/src/authorization/response-modes.ts';
import { scopesNamed } from '../../../packages/portico/src/clients/metadata.ts';
import { OAuthError } from '../../../packages/portico/src/errors.ts';
import { queryParameters } from '../../../packages/portico/src/parameters.ts';
import { Resources } from '../../../packages/portico/src/tokens/resource-indicators.ts';
import {
  formatScope,
  intersectScopes,
  isScopeToken,
  requireScopes,
} from '../../../packages/portico/src/tokens/scopes.ts';
import { hold, unless, type Target } from '../target.ts';

const MODES = new ResponseModes([]);
const RETURNS = { redirectUri: 'https://client.example/callback', state: null };
const AVAILABLE = ['openid', 'profile', 'notes:read', 'notes:write'];
const ONE_RESOURCE = new Resources('https://api.example', new Map(), []);
const refuses = (error: unknown) => error instanceof OAuthError;

/** The input is the query of an authorization request. Its scope is also tested alone. */
export const target: Target = {
  about: 'scope strings, and the other parameters of an authorization request',
  seeds: [
    'response_type=code&client_id=a&scope=openid+notes:read&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256',
    'response_type=code&prompt=consent&response_mode=query&max_age=1&dpop_jkt=0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
    'response_type=token&prompt=none+login&request=a&request_uri=b&resource=https://api.example',
    'scope=openid%20%20offline_access%20openid&scope=x',
    'scope=offline_access',
    'scope=%22',
    'state=%F0%9F%98%80&nonce=a&login_hint=ada%40example.com&ui_locales=de+en',
  ],
  dictionary: [
    'scope=',
    '&scope=',
    'openid',
    '+',
    '%20',
    'offline_access',
    'notes:read',
    'prompt=',
    'none',
    'consent',
    'login',
    'response_type=',
    'code',
    'response_mode=',
    'query',
    'fragment',
    'code_challenge_method=',
    'S256',
    'plain',
    'resource=',
    'https://api.example',
    'dpop_jkt=',
    'request=',
    '%22',
    '%5C',
    '%09',
  ],
  start: () => (input) => {
    const sent = input.toString('latin1').replaceAll(/[^\x21-\x7E]|#/g, '');
    const parameters = queryParameters(new Request(`https://app.example/oauth/authorize?${sent}`));
    const plain = new URL(`https://app.example/?${sent}`).searchParams;
    const once = (name: string) =>
      plain.getAll(name).length > 1 ? undefined : plain.get(name) || undefined;
    const check = <T>(work: () => T) => unless(refuses, () => ({ value: work() }));

    if (check(() => refuseRepeatedParameters(parameters, ['dpop_jkt'])) !== null)
      for (const name of ['scope', 'state', 'prompt', 'code_challenge', 'dpop_jkt', 'request'])
        hold(plain.getAll(name).length <= 1, 'a repeated parameter passed');
    if (check(() => refuseRequestObjects(parameters)) !== null)
      hold(!plain.getAll('request').some(Boolean), 'a request object passed');
    if (check(() => requireResponseType(parameters)) !== null)
      hold(once('response_type') === 'code', 'another response type passed');
    if (check(() => MODES.require(parameters, RETURNS)) !== null)
      hold([undefined, 'query'].includes(once('response_mode')), 'another response mode passed');
    if (check(() => refuseMaxAge(parameters)) !== null)
      hold(!plain.getAll('max_age').some(Boolean), 'a max_age passed');
    const isDone = () => {
      requirePrompt(parameters);
      refuseSilent(parameters);
    };
    if (check(isDone) !== null) {
      const asked = (once('prompt') ?? '')
        .split(' ')
        .filter((each) => each !== '' && each !== 'consent');
      hold(asked.length === 0, 'a prompt passed that is not done');
    }
    const pkce = check(() => requirePkce(parameters));
    if (pkce !== null)
      hold(
        once('code_challenge_method') === 'S256' &&
          Buffer.from(pkce.value, 'base64url').length === 32,
        'a weak challenge passed',
      );
    const jkt = check(() => requireThumbprint(parameters, 'dpop_jkt'));
    if (jkt !== null && jkt.value !== null)
      hold(jkt.value.length === 43, 'a thumbprint passed that is none');
    const resource = check(() => requireResource(parameters, ONE_RESOURCE));
    if (resource !== null)
      hold(
        [undefined, 'https://api.example'].includes(once('resource')),
        'another resource passed',
      );

    for (const scope of [plain.get('scope') ?? undefined, sent, input.toString('utf8')]) {
      const named = (scope ?? '').split(' ').filter((each) => each !== '');
      const granted = check(() =>
        requireScopes(scope, { available: AVAILABLE, refusal: 'no', detail: 'no' }),
      );
      if (granted !== null) {
        const { value } = granted;
        hold(value.length > 0 && new Set(value).size === value.length, 'no scope, or one twice');
        hold(
          value.every((each) => AVAILABLE.includes(each) && isScopeToken(each)),
          'a scope passed that is not offered',
        );
        hold(
          named.every((each) => each === 'offline_access' || AVAILABLE.includes(each)),
          'a scope was passed over',
        );
        const asked = [...new Set(named)].filter((each) => each !== 'offline_access');
        if (asked.length > 0)
          hold(
            JSON.stringify(value) === JSON.stringify(asked),
            'other scopes than those that were asked for',
          );
        hold(
          JSON.stringify(
            requireScopes(formatScope(value), {
              available: AVAILABLE,
              refusal: 'no',
              detail: 'no',
            }),
          ) === JSON.stringify(value),
          'what is written is read as something else',
        );
      }
      const registered = scopesNamed(scope, AVAILABLE);
      hold(
        registered.every((each) => AVAILABLE.includes(each)),
        'a scope was registered that is not offered',
      );
      hold(
        intersectScopes(registered, named).every((each) => named.includes(each)),
        'a scope is in both lists and in none',
      );
    }
    const kept = sentParameters(parameters, {
      further: ['dpop_jkt'],
      hints: ['login_hint', 'ui_locales'],
    });
    hold(
      kept.every(([name, value]) => plain.getAll(name).includes(value)),
      'something waits that was not sent',
    );
    hold(kept.length <= 40, 'more waits than was sent');
  },
};
