import type { InitialAccessToken } from 'portico';
import { getTokens } from 'portico/extension';
import { markup, type Html } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { alert, code, moment, notice, secretOnce, words } from '../formatting.ts';

const DONE = {
  revoked: 'Done. The token is revoked. Applications that used it stay registered.',
};

/**
 * The page /oauth/admin/registration. It lets administrators manage the tokens with which
 * applications register themselves (RFC 7591 section 1.2).
 */
export const registration: Page = {
  async show(asked, refused) {
    const { parts, fields, links } = asked;
    const says = getTokens(parts.server.arrivals)?.says ?? OFF;
    const tokens = (await parts.server.initialAccessTokens.list()).toReversed();
    const sent = (name: string) => refused?.form.get(name) ?? '';
    return {
      title: 'Registration',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      <p>${says}</p>
      ${tokens.length === 0 ? markup`<p>There is no initial access token.</p>` : markup`<ul class="rows" role="list">${tokens.map((each) => row(each, asked))}</ul>`}
      <h2>A new initial access token</h2>
      <form method="post" action="${links.registration}">
        ${fields({ action: 'create', target: '', state: null })}
        <label for="note">Who it is for</label>
        <input id="note" name="note" maxlength="200" value="${sent('note')}" autocomplete="off">
        <label for="uses">How many applications may register with it</label>
        <input id="uses" name="uses" inputmode="numeric" value="${sent('uses') || '1'}" required>
        <label for="lifetime">Lifetime in seconds</label>
        <input id="lifetime" name="lifetime" inputmode="numeric" value="${sent('lifetime') || '86400'}" required aria-describedby="lifetime-hint">
        <p class="hint" id="lifetime-hint">86400 is a day.</p>
        <p class="choices"><button class="primary" type="submit">Create token</button></p>
      </form>`,
    };
  },

  async act({ form, accept, parts, person, links }) {
    const { initialAccessTokens } = parts.server;
    const id = form.get('id') ?? '';
    if (form.get('do') === 'create') {
      await accept({ action: 'create', target: '', state: null });
      const created = await initialAccessTokens.create(
        {
          uses: Number(form.get('uses')),
          lifetime: Number(form.get('lifetime')),
          note: form.get('note') ?? '',
        },
        { by: person },
      );
      return {
        title: 'A new initial access token',
        body: markup`
        ${secretOnce(`It can register ${created.uses === 1 ? 'one application' : `${created.uses} applications`}.`, created.token)}
        <p><a class="button" href="${links.registration}">I have copied it: back to the list</a></p>`,
      };
    }
    if (form.get('do') !== 'revoke') return null;
    await accept({ action: 'revoke', target: id, state: null });
    await initialAccessTokens.revoke(id, { by: person });
    return { goTo: `${links.registration}?done=revoked` };
  },
};

const OFF = 'oauth_server:registration is off, so these tokens cannot be used.';

function row(
  { id, note, uses, usesLeft, expiresAt }: InitialAccessToken,
  { fields, links, parts }: Asked,
): Html {
  const ended = usesLeft === 0 || expiresAt <= parts.server.clock();
  return markup`
        <li>
          <h2 class="head">${note === '' ? code(id) : words(note)} ${ended ? markup`<span class="badge">ended</span>` : markup`<span class="badge good">valid</span>`}</h2>
          <p class="soft">${code(id)}: ${usesLeft} of ${uses} uses left, until ${moment(expiresAt)}</p>
          <form method="post" action="${links.registration}">
            ${fields({ action: 'revoke', target: id, state: null })}
            <input type="hidden" name="id" value="${id}">
            <button type="submit">Revoke<span class="unseen"> ${note === '' ? id : note}</span></button>
          </form>
        </li>`;
}
