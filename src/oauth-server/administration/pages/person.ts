import type { PersonReference } from '../../../contracts/person.ts';
import { holdingRows } from '../holding.ts';
import { withQuery } from '../links.ts';
import { isDoneSoon } from '../lasting.ts';
import { markup, type Markup } from '../markup.ts';
import type { Asked, Page, Shown } from '../page.ts';
import { alert, notice, personName } from '../shown.ts';

const DONE = {
  revoked: 'Done: all that this person had allowed has ended. They may allow applications again.',
  authorization: 'Done: that authorization has ended, with every token of it.',
  continuing:
    'It is more than can be done at once, and goes on without this page. Look again: what is left is shown below. Should it stop before ' +
    'the end, send it again.',
};

/** /oauth/admin/person?provider=…&id=…: what one person has allowed, and its end. */
export const person: Page = {
  async show(asked, refused) {
    const { parts, links, query } = asked;
    const of = personOf(asked);
    const ask = refused === undefined ? query.get('ask') : refused.form.get('do');
    if (ask === 'revoke-all') return question(asked, of, refused);
    const { items, next } = await parts.server.access.list({ person: of });
    const here = links.person(of.provider, of.id);
    const all = withQuery(links.access, { provider: of.provider, person: of.id });
    return {
      title: 'A person',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      <p>${personName(of)}</p>
      ${
        items.length === 0
          ? markup`<p>Nothing that they have allowed lives now.</p>`
          : markup`<h2>What they have allowed</h2>${holdingRows(items, asked, here)}`
      }
      ${next === null ? null : markup`<p><a href="${all}">All of it</a></p>`}
      <ul class="choices" role="list">
        <li><a class="button" href="${links.person(of.provider, of.id, { ask: 'revoke-all' })}">Revoke all of it…</a></li>
      </ul>`,
    };
  },

  async act(sent) {
    const { form, accept, parts, links, person: by } = sent;
    const of = personOf(sent);
    const here = (done: string) => ({ goTo: links.person(of.provider, of.id, { done }) });
    if (form.get('do') === 'revoke') {
      const id = form.get('id') ?? '';
      await accept({ action: 'revoke', target: id, state: null });
      await parts.server.access.revokeAuthorization(id, { by });
      return here('authorization');
    }
    if (form.get('do') !== 'revoke-all') return null;
    await accept({ action: 'revoke-all', target: targetOf(of), state: null });
    const work = parts.server.access.revokePerson(of, { by });
    const { log } = parts.server.host;
    return here((await isDoneSoon('The revocation of a person', work, { log })) ? 'revoked' : 'continuing');
  },
};

function personOf({ query }: Asked): PersonReference {
  return { provider: query.get('provider') ?? '', id: query.get('id') ?? '' };
}

function targetOf({ provider, id }: PersonReference): string {
  return JSON.stringify([provider, id]);
}

function question(asked: Asked, of: PersonReference, refused: Parameters<Page['show']>[1]): Shown {
  return {
    title: 'Revoke all that this person has allowed?',
    body: markup`
      ${alert(refused)}
      <p>${personName(of)}</p>
      <p>Every application loses its access for this person at once, with every token and every question that waits for an answer. Their account
        stays as it is, and they may allow applications again.</p>
      ${confirm(asked, of, 'revoke-all', 'Revoke all of it')}`,
  };
}

function confirm({ links, fields }: Asked, of: PersonReference, action: string, button: string): Markup {
  const here = links.person(of.provider, of.id);
  return markup`
      <form method="post" action="${here}">
        ${fields({ action, target: targetOf(of), state: null })}
        <p class="choices"><button class="danger" type="submit">${button}</button><a class="button" href="${here}">Leave it as it is</a></p>
      </form>`;
}
