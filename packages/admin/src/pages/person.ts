import type { PersonReference } from 'portico';
import { heldGroups } from '../grouping.ts';
import { holdingRows, singleRows } from '../holding.ts';
import { isDoneSoon } from '../lasting.ts';
import { withQuery } from '../links.ts';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { Asked, Page, Refused, Sent, Shown } from '../page.ts';
import { knownPeople } from '../people.ts';
import { aboutPerson, alert, calledBy, code, notice } from '../formatting.ts';
import { groupInForm } from './access.ts';

const DONE = {
  authorization: 'Done. The access and its tokens are revoked.',
  'revoke-all':
    'Done. All access that this person had allowed has ended. The person can allow ' +
    'applications again.',
  erase: 'Done. Everything stored about this person is removed.',
  continuing:
    'This takes longer and continues in the background. Reload the page to see what is ' +
    'left. If it stops before the end, do it again.',
};

/** An action that ends all access of a user. It may take a long time. */
interface Ending {
  readonly title: string;
  readonly says: readonly string[];
  readonly button: string;
  readonly work: (sent: Sent, of: PersonReference) => Promise<unknown>;
}

const ENDINGS: ReadonlyMap<string, Ending> = new Map<string, Ending>([
  [
    'revoke-all',
    {
      title: 'Revoke all access that this person allowed?',
      says: [
        "Every application immediately loses its access to this person's account. All tokens " +
          'and all waiting consent requests are revoked.',
        'The account does not change, and the person can allow applications again.',
      ],
      button: 'Revoke all access',
      work: ({ parts, person: by }, of) => parts.server.access.revokePerson(of, { by }),
    },
  ],
  [
    'erase',
    {
      title: 'Erase everything stored about this person?',
      says: [
        'This ends and removes all access that the person allowed, all waiting consent ' +
          "requests and the person's subject (sub). " +
          'If the person signs in to an application again, the application sees a new person.',
        'Stored audit events show a pseudonym instead. Data elsewhere, such as in logs and ' +
          'in applications, is not changed. ' +
          'The account itself stays: remove it first, so that nothing new is stored.',
        'This cannot be undone.',
      ],
      button: 'Erase permanently',
      work: ({ parts, person: by }, of) => parts.server.access.erasePerson(of, { by }),
    },
  ],
]);

/**
 * The page /oauth/admin/person?provider=…&id=…. It shows the authorizations that one user gave,
 * with forms to revoke them.
 */
export const person: Page = {
  async show(asked, refused) {
    const { parts, links, query } = asked;
    const of = readPerson(asked);
    const ask = (refused === undefined ? query.get('ask') : refused.form.get('do')) ?? '';
    const ending = ENDINGS.get(ask);
    if (ending !== undefined) return question(asked, of, { ask, ending, refused });
    const client = query.get('client');
    const allowed = await (client === undefined
      ? allAllowed(asked, of)
      : allowedTo(asked, of, client));
    const events = withQuery(links.audit, { provider: of.provider, person: of.id });
    return {
      title: 'A person',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      ${await whoItIs(parts, of)}
      ${allowed}
      <p class="soft"><a href="${events}">Audit events of this person</a></p>
      <ul class="choices" role="list">
        <li><a class="button" href="${links.person(of.provider, of.id, { ask: 'revoke-all' })}">Revoke all access…</a></li>
        <li><a class="button" href="${links.person(of.provider, of.id, { ask: 'erase' })}">Erase this person…</a></li>
      </ul>`,
    };
  },

  async act(sent) {
    const { form, accept, parts, links, person: by } = sent;
    const of = readPerson(sent);
    const here = (done: string) => ({ goTo: links.person(of.provider, of.id, { done }) });
    const does = form.get('do') ?? '';
    if (does === 'revoke-group') {
      const { end } = await groupInForm(sent, {});
      return here((await end()) ? 'authorization' : 'continuing');
    }
    if (does === 'revoke') {
      const id = form.get('id') ?? '';
      await accept({ action: 'revoke', target: id, state: null });
      await parts.server.access.revokeAuthorization(id, { by });
      return here('authorization');
    }
    const ending = ENDINGS.get(does);
    if (ending === undefined) return null;
    await accept({ action: does, target: getTarget(of), state: null });
    const isDone = await isDoneSoon(does, ending.work(sent, of), parts.server.host);
    return here(isDone ? does : 'continuing');
  },
};

/** Returns the user's authorizations, grouped by application. The newest group comes first. */
async function allAllowed(asked: Asked, of: PersonReference): Promise<HtmlContent> {
  const { parts, links, query } = asked;
  const { groups, next } = await heldGroups(
    parts.server.access,
    { person: of },
    query.get('after'),
  );
  if (groups.length === 0 && next === null)
    return markup`<p class="empty">This person has no active access.</p>`;
  const action = links.person(of.provider, of.id);
  return markup`<h2>Access that this person allowed</h2>${holdingRows(groups, asked, action, null)}
      ${next === null ? null : markup`<p><a class="button" href="${links.person(of.provider, of.id, { after: next })}">Show older ones</a></p>`}`;
}

/** Returns a list of the authorizations that the user gave to one application. */
async function allowedTo(asked: Asked, of: PersonReference, client: string): Promise<HtmlContent> {
  const { parts, links, query } = asked;
  const after = query.get('after');
  const page = after === undefined ? {} : { after };
  const { items, next } = await parts.server.access.list({ person: of, clientId: client }, page);
  const here = links.person(of.provider, of.id);
  const more = next === null ? null : links.person(of.provider, of.id, { client, after: next });
  return markup`<h2>Access that this person allowed ${code(client)}</h2>
      ${items.length === 0 ? markup`<p class="empty">No active access.</p>` : singleRows(items, asked, here)}
      ${more === null ? null : markup`<p><a class="button" href="${more}">Show older ones</a></p>`}
      <p class="soft"><a href="${here}">All access that this person allowed</a></p>`;
}

async function whoItIs({ server }: Asked['parts'], of: PersonReference): Promise<Html> {
  const known = (await knownPeople(server.host, [of]))(of);
  return markup`<p class="person"><strong>${calledBy(of, known)}</strong> ${aboutPerson(of, known)}</p>`;
}

function readPerson({ query }: Asked): PersonReference {
  return { provider: query.get('provider') ?? '', id: query.get('id') ?? '' };
}

function getTarget({ provider, id }: PersonReference): string {
  return JSON.stringify([provider, id]);
}

async function question(
  { links, fields, parts }: Asked,
  of: PersonReference,
  {
    ask,
    ending,
    refused,
  }: { readonly ask: string; readonly ending: Ending; readonly refused: Refused | undefined },
): Promise<Shown> {
  const here = links.person(of.provider, of.id);
  return {
    title: ending.title,
    body: markup`
      ${alert(refused)}
      ${await whoItIs(parts, of)}
      ${ending.says.map((text) => markup`<p>${text}</p>`)}
      <form method="post" action="${here}">
        ${fields({ action: ask, target: getTarget(of), state: null })}
        <p class="choices"><button class="danger" type="submit">${ending.button}</button><a class="button" href="${here}">Cancel</a></p>
      </form>`,
  };
}
