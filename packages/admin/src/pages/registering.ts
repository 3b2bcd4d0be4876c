import type { ClientRegistration } from 'portico';
import { markup, type Html } from '../html.ts';
import type { Asked, Page, Refused, Sent, Shown } from '../page.ts';
import { alert, clientName, code, secretOnce } from '../formatting.ts';
import { namedIn, updateFields, type FieldHints } from './updating.ts';

/** The form that registers an application. It applies the same rules as `oauth:client:create`. */

const HINTS: FieldHints = {
  redirects: 'Where the browser returns to. Must match exactly.',
  scopes: 'What the application may ask people for.',
  grants:
    'authorization_code and refresh_token let people sign in to it; client_credentials lets ' +
    'it act as itself.',
};

/** The initial values of the form. */
const BLANK = {
  name: '',
  redirectUris: [],
  scopes: [],
  grants: ['authorization_code', 'refresh_token'],
} as const;

/** The kinds of applications to choose from. Each kind has a short hint. */
const KINDS: readonly (readonly [value: string, text: string, about: string])[] = [
  ['web', 'A web application with a server', 'it can keep a secret'],
  ['public', 'A browser application', 'it has no secret; PKCE protects it'],
  [
    'native',
    'A native application on a device',
    'it has no secret; http://127.0.0.1 matches on any port',
  ],
];

export function registrationForm(asked: Asked, refused?: Refused): Shown {
  const { links, fields } = asked;
  return {
    title: 'Register an application',
    body: markup`
      ${alert(refused)}
      <p>Get the redirect URIs from the application's developers. The next page shows the id and, once, the secret: give both to them.</p>
      <form method="post" action="${links.clients}">
        ${fields({ action: 'register', target: '', state: null })}
        ${kindFields(refused)}
        ${updateFields(BLANK, asked, refused, HINTS)}
        <p class="choices"><button class="primary" type="submit">Register it</button><a class="button" href="${links.clients}">Cancel</a></p>
      </form>`,
  };
}

function kindFields(refused: Refused | undefined): Html {
  const chosen = refused?.form.get('kind') ?? 'web';
  return markup`<fieldset><legend>Kind</legend>${KINDS.map(
    ([value, text, about]) => markup`
          <label class="choice"><input type="radio" name="kind" value="${value}"${value === chosen ? markup` checked` : null}> <span>${text} <span class="soft">${about}</span></span></label>`,
  )}</fieldset>`;
}

export const register: NonNullable<Page['act']> = async (sent: Sent) => {
  const { form, accept, parts, person, links } = sent;
  if (form.get('do') !== 'register') return null;
  const kind = form.get('kind');
  const registration: ClientRegistration = {
    ...namedIn(form, sent),
    public: kind === 'public' || kind === 'native',
    applicationType: kind === 'native' ? 'native' : 'web',
  };
  await accept({ action: 'register', target: '', state: null });
  const { client, secret } = await parts.server.clients.create(registration, { by: person });
  return {
    title: 'The application is registered',
    body: markup`
      <p class="head"><strong>${clientName(client)}</strong></p>
      <p>Its id is ${code(client.id)}.</p>
      ${secret === null ? markup`<p>It has no secret; PKCE protects it.</p>` : secretOnce('This is its secret.', secret)}
      <p><a class="button" href="${links.client(client.id)}">${secret === null ? 'To the application' : 'I have copied it: to the application'}</a></p>`,
  };
};
