import type { Client } from 'portico';
import { isClientUrl, isVerified } from 'portico/extension';
import { badges } from '../client-badges.ts';
import { withQuery } from '../links.ts';
import { markup, type HtmlContent } from '../html.ts';
import type { Asked, Page, Refused, Sent, Shown } from '../page.ts';
import { alert, clientName, code, moment, notice, secretOnce } from '../formatting.ts';
import { QUESTIONS, getState } from './client-questions.ts';
import { details } from './client-details.ts';
import { changesIn } from './updating.ts';

const DONE = {
  updated: 'Done: it is changed. What was taken away is gone with its next request.',
  same: 'It was so already: nothing was changed.',
  revoked: 'Done: it has ended, and so has every token that it held.',
  blocked: 'Done: the URL is blocked, and every token that it held has ended.',
  unblocked: 'Done: the URL may be an application again. Access that it had before stays revoked.',
};

/** /oauth/admin/client?id=…: one application, and the actions for it. */
export const client: Page = {
  async show(asked, refused) {
    const { parts, query, links } = asked;
    const id = query.get('id') ?? '';
    const known = await parts.server.clients.find(id);
    if (known === null) return unknown(asked, id, refused);
    const question = QUESTIONS.get((refused === undefined ? query.get('ask') : refused.form.get('do')) ?? '');
    if (question !== undefined) return question(asked, known, refused);
    return {
      title: 'Application',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      <p class="head"><strong>${clientName(known)}</strong> <span>${badges(known)}</span></p>
      ${details(await parts.server.clients.show(id), parts)}
      ${actions(known, asked)}
      <p class="soft"><a href="${withQuery(links.access, { client: id })}">Who lets it have access</a> · <a href="${links.clients}">All applications</a></p>`,
    };
  },

  async act(sent) {
    const { form, parts, query } = sent;
    const id = query.get('id') ?? '';
    const action = ACTIONS.get(form.get('do') ?? '');
    return action?.(sent, id, await parts.server.clients.find(id)) ?? null;
  },
};

type Action = (sent: Sent, id: string, known: Client | null) => ReturnType<NonNullable<Page['act']>>;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  [
    'update',
    async (sent, id, known) => {
      const { accept, parts, person, links, form } = sent;
      await accept({ action: 'update', target: id, state: getState(known) });
      if (known === null) return null;
      const { changes } = await parts.server.clients.update(id, changesIn(form, known, sent), { by: person });
      return { goTo: links.client(id, { done: Object.keys(changes).length > 0 ? 'updated' : 'same' }) };
    },
  ],
  [
    'revoke',
    async ({ accept, parts, person, links }, id, known) => {
      await accept({ action: 'revoke', target: id, state: getState(known) });
      const { client: ended } = await parts.server.clients.revoke(id, { by: person });
      return { goTo: links.client(id, { done: ended.registeredBy === 'document' ? 'blocked' : 'revoked' }) };
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
      const { secret, previousExpiresAt } = await parts.server.clients.rotateSecret(id, overlap, {
        by: person,
        ...(known === null ? {} : { seen: known }),
      });
      // Do not redirect, because a secret in an address would appear in histories and logs.
      return {
        title: 'A new secret',
        body: markup`
      ${known === null ? null : markup`<p>For <strong>${clientName(known)}</strong> (${code(id)}).</p>`}
      ${secretOnce('This is the new secret.', secret)}
      <p>${
        previousExpiresAt === null
          ? 'The secret before has ended.'
          : markup`The secret before is accepted until ${moment(previousExpiresAt)}.`
      }</p>
      <p><a class="button" href="${links.client(id)}">I have kept it: back to the application</a></p>`,
      };
    },
  ],
]);

/** Returns links for the actions. Each opens a page that explains what will happen. */
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
  if (entries.length === 0) return markup`<p>It has been revoked, for good.</p>`;
  return markup`<ul class="choices" role="list">${entries.map(
    ([ask, text]) => markup`<li><a class="button" href="${links.client(id, { ask })}">${text}</a></li>`,
  )}</ul>`;
}

/**
 * Returns the page for an unknown client. A client document's URL can be blocked even before a
 * person has seen it.
 */
function unknown(asked: Asked, id: string, refused: Refused | undefined): Shown {
  const { links, fields } = asked;
  const back = markup`<p class="soft"><a href="${links.clients}">All applications</a></p>`;
  if (!isClientUrl(id)) {
    return {
      title: 'No application has this id',
      status: 404,
      body: markup`${alert(refused)}<p>Look whether the id is whole, or find the application in the list.</p>${back}`,
    };
  }
  return {
    title: 'No one has used this URL here',
    status: 404,
    body: markup`
      ${alert(refused)}
      <p>${code(id)}</p>
      <p>If documents may be applications here, it becomes one when a request first names it. While it is blocked, it does not.</p>
      <form method="post" action="${links.client(id)}">
        ${fields({ action: 'revoke', target: id, state: null })}
        <p class="choices"><button class="danger" type="submit">Block it</button></p>
      </form>
      ${back}`,
  };
}
