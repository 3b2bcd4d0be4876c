import type { Client } from 'portico';
import { isClientUrl, isVerified } from 'portico/extension';
import { badges } from '../client-badges.ts';
import { withQuery } from '../links.ts';
import { markup, type HtmlContent } from '../html.ts';
import type { AdministrationParts, Asked, Page, Refused, Sent, Shown } from '../page.ts';
import { alert, clientName, code, moment, notice, secretOnce } from '../formatting.ts';
import { QUESTIONS, getState } from './client-questions.ts';
import { details } from './client-details.ts';
import { changesIn } from './updating.ts';

const DONE = {
  updated: "Done. The changes take effect with the application's next request.",
  same: 'Nothing was changed: the application already has these values.',
  revoked: 'Done. The application is revoked, and so are all its tokens.',
  blocked: 'Done. The URL is blocked, and all tokens of the application are revoked.',
  unblocked: 'Done. The URL is no longer blocked. Earlier access stays revoked.',
};

/**
 * The page /oauth/admin/client?id=…. It shows one application, with links to the actions for it.
 */
export const client: Page = {
  async show(asked, refused) {
    const { parts, query, links } = asked;
    const id = query.get('id') ?? '';
    const known = await findStored(parts, id);
    if (known === null) return unknown(asked, id, refused);
    const question = QUESTIONS.get(
      (refused === undefined ? query.get('ask') : refused.form.get('do')) ?? '',
    );
    if (question !== undefined) return question(asked, known, refused);
    return {
      title: 'Application',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      <p class="head"><strong>${clientName(known)}</strong> <span>${badges(known)}</span></p>
      ${details(await parts.server.clients.show(id), parts)}
      ${actions(known, asked)}
      <p class="soft"><a href="${withQuery(links.access, { client: id })}">Who gave it access</a> · <a href="${links.clients}">All applications</a></p>`,
    };
  },

  async act(sent) {
    const { form, parts, query } = sent;
    const id = query.get('id') ?? '';
    const action = ACTIONS.get(form.get('do') ?? '');
    return action?.(sent, id, await findStored(parts, id)) ?? null;
  },
};

/**
 * Returns the client with the time when an operator revoked or blocked it. `find` alone also
 * returns a document client as revoked if the configuration does not allow its document.
 */
async function findStored(
  { server: { clients } }: AdministrationParts,
  id: string,
): Promise<Client | null> {
  const known = await clients.find(id);
  if (known === null || known.revokedAt === null) return known;
  const { revokedAt } = (await clients.show(id)).client;
  return { ...known, revokedAt };
}

type Action = (
  sent: Sent,
  id: string,
  known: Client | null,
) => ReturnType<NonNullable<Page['act']>>;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  [
    'update',
    async (sent, id, known) => {
      const { accept, parts, person, links, form } = sent;
      await accept({ action: 'update', target: id, state: getState(known) });
      if (known === null) return null;
      const { changes } = await parts.server.clients.update(id, changesIn(form, known, sent), {
        by: person,
      });
      return {
        goTo: links.client(id, { done: Object.keys(changes).length > 0 ? 'updated' : 'same' }),
      };
    },
  ],
  [
    'revoke',
    async ({ accept, parts, person, links }, id, known) => {
      await accept({ action: 'revoke', target: id, state: getState(known) });
      const { client: ended } = await parts.server.clients.revoke(id, { by: person });
      return {
        goTo: links.client(id, { done: ended.registeredBy === 'document' ? 'blocked' : 'revoked' }),
      };
    },
  ],
  [
    'unblock',
    async ({ accept, parts, person, links }, id, known) => {
      await accept({ action: 'unblock', target: id, state: getState(known) });
      await parts.server.clients.unblock(id, { by: person });
      return { goTo: links.client(id, { done: 'unblocked' }) };
    },
  ],
  [
    'rotate-secret',
    async ({ accept, parts, person, links, form }, id, known) => {
      const overlap = Number(form.get('overlap') ?? Number.NaN);
      await accept({ action: 'rotate-secret', target: id, state: getState(known) });
      if (known === null) return null;
      const { secret, previousExpiresAt } = await parts.server.clients.rotateSecret(id, overlap, {
        by: person,
        seen: known,
      });
      // Return a page instead of a redirect. A secret in a URL would appear in the browser's
      // history and in logs.
      return {
        title: 'A new secret',
        body: markup`
      <p>For <strong>${clientName(known)}</strong> (${code(id)}).</p>
      ${secretOnce('This is the new secret.', secret)}
      <p>${
        previousExpiresAt === null
          ? 'The previous secret is no longer accepted.'
          : markup`The previous secret is accepted until ${moment(previousExpiresAt)}.`
      }</p>
      <p><a class="button" href="${links.client(id)}">I have copied it: back to the application</a></p>`,
      };
    },
  ],
]);

/**
 * Returns a link for each action. The link opens a page that explains the action and contains its
 * form.
 */
function actions(known: Client, { links }: Asked): HtmlContent {
  const { id, revokedAt, registeredBy, secretHash } = known;
  const isDocument = registeredBy === 'document';
  const entries =
    revokedAt === null
      ? [
          ...(isVerified(known) ? [['update', 'Change it…'] as const] : []),
          ...(secretHash === null ? [] : [['rotate-secret', 'Give it a new secret…'] as const]),
          ['revoke', isDocument ? 'Block it…' : 'Revoke it…'] as const,
        ]
      : isDocument
        ? [['unblock', 'Unblock it…'] as const]
        : [];
  if (entries.length === 0) return markup`<p>It is revoked permanently.</p>`;
  return markup`<ul class="choices" role="list">${entries.map(
    ([ask, text]) =>
      markup`<li><a class="button" href="${links.client(id, { ask })}">${text}</a></li>`,
  )}</ul>`;
}

/**
 * Returns the page for an unknown client id. If the id could be the URL of a client metadata
 * document, the administrator can block this URL here before any client uses it.
 */
function unknown(asked: Asked, id: string, refused: Refused | undefined): Shown {
  const { links, fields } = asked;
  const back = markup`<p class="soft"><a href="${links.clients}">All applications</a></p>`;
  if (!isClientUrl(id)) {
    return {
      title: 'No application has this id',
      status: 404,
      body: markup`${alert(refused)}<p>Check that the id is complete, or find the application in the list.</p>${back}`,
    };
  }
  return {
    title: 'No one has used this URL yet',
    status: 404,
    body: markup`
      ${alert(refused)}
      <p>${code(id)}</p>
      <p>If client documents are allowed, this URL becomes an application with its first request. Block it to prevent this.</p>
      <form method="post" action="${links.client(id)}">
        ${fields({ action: 'revoke', target: id, state: null })}
        <p class="choices"><button class="danger" type="submit">Block it</button></p>
      </form>
      ${back}`,
  };
}
