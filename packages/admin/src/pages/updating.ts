import type { Client, ClientChanges } from 'portico';
import type { Parameters } from 'portico/extension';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { Asked, Refused } from '../page.ts';
import { code } from '../formatting.ts';

/**
 * The form that changes an application. Only applications that an operator has registered can be
 * changed.
 */

/**
 * Returns the field name for a scope. Each scope has a separate checkbox, and browsers send only
 * checked boxes. The scope's name is hex-encoded, because some frameworks treat brackets in field
 * names specially.
 */
const scopeField = (name: string) => `scope_${Buffer.from(name).toString('hex')}`;
const grantField = (name: string) => `grant_${name}`;

/** The hints that the form shows below its fields. */
export interface FieldHints {
  readonly redirects: string;
  readonly scopes: string;
  readonly grants: string;
}

const OF_CHANGES: FieldHints = {
  redirects: 'If you remove one, codes that were sent to it are refused.',
  scopes: "If you remove one, the application's tokens lose it with the next request.",
  grants:
    'If you remove one, its tokens stop working until you add it again. To end them ' +
    'permanently, revoke the access.',
};

/** The values of an application that the form can change. */
type EditedFields = Pick<Client, 'name' | 'redirectUris' | 'scopes' | 'grants'>;

/**
 * Returns the fields of the form. If a form was rejected, they contain the submitted values.
 * Otherwise, they contain the application's current values.
 */
export function updateFields(
  known: EditedFields,
  { parts: { scopes, server } }: Asked,
  refused: Refused | undefined,
  hints: FieldHints = OF_CHANGES,
): Html {
  const sent = refused?.form;
  const isTicked = (field: string, has: boolean) => (sent === undefined ? has : sent.has(field));
  // Also show a scope or a grant that this server no longer offers, so that the operator can remove
  // it.
  const offered = [...new Set([...known.scopes, ...scopes.keys()])];
  const grants = [...new Set([...server.grantTypes.rights, ...known.grants])];
  const rows = Math.min(12, Math.max(3, known.redirectUris.length + 1));
  return markup`
        <label for="name">Name that people see</label>
        <input id="name" name="name" maxlength="100" required autocomplete="off" value="${sent?.values.get('name') ?? known.name}">
        <label for="redirect_uris">Redirect URIs, one on each line</label>
        <textarea id="redirect_uris" name="redirect_uris" rows="${rows}" spellcheck="false" aria-describedby="redirects-hint">
${sent?.values.get('redirect_uris') ?? known.redirectUris.join('\n')}</textarea>
        <p class="hint" id="redirects-hint">${hints.redirects}</p>
        <fieldset>
          <legend>Scopes</legend>
          ${offered.map((name) =>
            box(scopeField(name), isTicked(scopeField(name), known.scopes.includes(name)), [
              code(name),
              ' ',
              markup`<span class="soft">${scopes.get(name)?.label ?? 'no longer offered'}</span>`,
            ]),
          )}
          <p class="hint">${hints.scopes}</p>
        </fieldset>
        <fieldset>
          <legend>Grants</legend>
          ${grants.map((name) =>
            box(
              grantField(name),
              isTicked(grantField(name), known.grants.includes(name)),
              code(name),
            ),
          )}
          <p class="hint">${hints.grants}</p>
        </fieldset>`;
}

function box(field: string, isTicked: boolean, text: HtmlContent): Html {
  return markup`
          <label class="choice"><input type="checkbox" name="${field}" value="1"${isTicked ? markup` checked` : null}> <span>${text}</span></label>`;
}

/** Returns the submitted values for a new application. */
export function namedIn(form: Parameters, { parts: { scopes, server } }: Asked) {
  return {
    name: form.get('name') ?? '',
    redirectUris: linesIn(form),
    scopes: [...scopes.keys()].filter((name) => form.has(scopeField(name))),
    grants: server.grantTypes.rights.filter((name) => form.has(grantField(name))),
  };
}

function linesIn(form: Parameters): readonly string[] {
  return (form.get('redirect_uris') ?? '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/**
 * Returns the changes to the application: the submitted values that differ from the current ones.
 */
export function changesIn(
  form: Parameters,
  known: EditedFields,
  { parts: { scopes, server } }: Asked,
): ClientChanges {
  const name = form.get('name') ?? '';
  const uris = linesIn(form);
  const ticked = (names: Iterable<string>, field: (name: string) => string) =>
    [...new Set(names)].filter((each) => form.has(field(each)));
  const newScopes = ticked([...known.scopes, ...scopes.keys()], scopeField);
  const newGrants = ticked([...known.grants, ...server.grantTypes.rights], grantField);
  return {
    ...(name === known.name ? {} : { name }),
    addRedirectUris: without(uris, known.redirectUris),
    removeRedirectUris: without(known.redirectUris, uris),
    addScopes: without(newScopes, known.scopes),
    removeScopes: without(known.scopes, newScopes),
    addGrants: without(newGrants, known.grants),
    removeGrants: without(known.grants, newGrants),
  };
}

function without(all: readonly string[], others: readonly string[]): readonly string[] {
  return all.filter((each) => !others.includes(each));
}
