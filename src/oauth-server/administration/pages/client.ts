import { isClientUrl } from '../../client-documents/client-urls.ts';
import { hasSecret } from '../../clients/registration.ts';
import { comesFrom, isVerified } from '../../clients/who-asks.ts';
import type { Client } from '../../store/client.ts';
import { authenticationOf, badges, openUntil } from '../kinds.ts';
import { markup, type Content, type Markup } from '../markup.ts';
import type { Asked, Page, Sent } from '../page.ts';
import { alert, clientName, code, facts, list, moment, notice, secretOnce, words } from '../shown.ts';
import { OVERLAPS, rotationForm } from './rotating.ts';

const DONE = {
  revoked: 'Done: it has ended, and so has every token that it held.',
  blocked: 'Done: the URL is blocked, and every token that it held has ended.',
  unblocked: 'Done: the URL may be an application again. Nothing that it had been given before lives again.',
};

/** /oauth/admin/client?id=…: one application, and what can be done to it. */
export const client: Page = {
  async show(asked, refused) {
    const { parts, query, links } = asked;
    const id = query.get('id') ?? '';
    const known = await parts.server.clients.find(id);
    if (known === null) return unknown(asked, id, refused);
    const question = QUESTIONS[query.get('ask') ?? ''];
    if (question !== undefined && refused === undefined) return question(asked, known);
    return {
      title: 'Application',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      <p class="head"><strong>${clientName(known)}</strong> <span>${badges(known)}</span></p>
      ${details(known, asked)}
      ${actions(known, asked)}
      <p class="soft"><a href="${links.clients}">All applications</a></p>`,
    };
  },

  async act(sent) {
    const { form, parts, query } = sent;
    const id = query.get('id') ?? '';
    const action = ACTIONS[form.get('do') ?? ''] ?? nothing;
    return action(sent, id, await parts.server.clients.find(id));
  },
};

/** All that was decided by; when it was last used decides nothing. */
function stateOf(known: Client | null): unknown {
  return known === null ? null : { ...known, usedAt: null };
}

type Action = (sent: Sent, id: string, known: Client | null) => ReturnType<NonNullable<Page['act']>>;

const nothing: Action = async ({ accept }, id) => {
  // No form has this: it refuses.
  await accept({ action: '', target: id, state: null });
  throw new Error('A form without an action was accepted');
};

const ACTIONS: Readonly<Record<string, Action | undefined>> = {
  async revoke({ accept, parts, person, links }, id, known) {
    await accept({ action: 'revoke', target: id, state: stateOf(known) });
    const { client: ended } = await parts.server.clients.revoke(id, { by: person });
    return { goTo: links.client(id, { done: ended.registeredBy === 'document' ? 'blocked' : 'revoked' }) };
  },
  async unblock({ accept, parts, person, links }, id, known) {
    await accept({ action: 'unblock', target: id, state: stateOf(known) });
    await parts.server.clients.unblock(id, { by: person });
    return { goTo: links.client(id, { done: 'unblocked' }) };
  },
  async 'rotate-secret'({ accept, parts, person, links, form }, id, known) {
    const overlap = Number(form.get('overlap') ?? Number.NaN);
    await accept({ action: 'rotate-secret', target: id, state: stateOf(known) });
    const { secret, previousExpiresAt } = await parts.server.clients.rotateSecret(id, overlap, {
      by: person,
    });
    // Not by way of an address: a secret in one would be in histories and logs.
    return {
      title: 'A new secret',
      body: markup`
      ${known === null ? null : markup`<p>For <strong>${clientName(known)}</strong> (${code(id)}).</p>`}
      ${secretOnce('The new secret.', secret)}
      <p>${
        previousExpiresAt === null
          ? 'The secret before has ended.'
          : markup`The secret before is accepted until ${moment(previousExpiresAt)}.`
      }</p>
      <p><a class="button" href="${links.client(id)}">I have kept it: back to the application</a></p>`,
    };
  },
};

function details(known: Client, { parts: { server, scopes } }: Asked): Markup {
  const until = openUntil(known, server.clock());
  return facts([
    [known.registeredBy === 'document' ? 'URL, which is its id' : 'Id', code(known.id)],
    ['Comes from', isVerified(known) ? null : words(comesFrom(known))],
    ['Registered by', REGISTERED_BY[known.registeredBy]],
    ['Since', moment(known.createdAt)],
    ['Last used', known.usedAt === null ? null : moment(known.usedAt)],
    [
      known.registeredBy === 'document' ? 'Blocked' : 'Revoked',
      known.revokedAt === null ? null : moment(known.revokedAt),
    ],
    ['Grants', list(known.grants)],
    [
      'Scopes',
      known.scopes.length === 0
        ? 'none'
        : markup`<ul role="list">${known.scopes.map(
            (name) =>
              markup`<li>${code(name)} <span class="soft">${scopes.get(name)?.label ?? 'not offered any more'}</span></li>`,
          )}</ul>`,
    ],
    ['Redirect URIs', list(known.redirectUris)],
    ['Authenticates by', code(authenticationOf(known))],
    [
      'Its keys',
      known.keys === null ? null : known.keys.jwksUri === null ? 'kept here' : code(known.keys.jwksUri),
    ],
    ['ID tokens signed with', code(known.idTokenSignedResponseAlg)],
    ['Profile', known.profile],
    ['Requests', known.pushesRequests ? 'pushed (RFC 9126), and no others' : null],
    ['Tokens', known.dpopBoundAccessTokens ? 'bound to its key (DPoP)' : null],
    ['The secret before', until === null ? null : markup`is accepted until ${moment(until)}`],
  ]);
}

const REGISTERED_BY = {
  operator: 'an operator',
  registration: 'itself; nobody has verified what it says',
  document: 'its document; nobody has verified what it says',
} as const;

/** Each leads to a question, which says what will happen. */
function actions(known: Client, { links }: Asked): Content {
  const { id, revokedAt, registeredBy } = known;
  const isDocument = registeredBy === 'document';
  const entries =
    revokedAt === null
      ? [
          ...(hasSecret(known) && !isDocument ? [['rotate-secret', 'Give it a new secret…'] as const] : []),
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

type Question = (asked: Asked, known: Client) => { readonly title: string; readonly body: Markup };

const QUESTIONS: Readonly<Record<string, Question | undefined>> = {
  revoke(asked, known) {
    const isDocument = known.registeredBy === 'document';
    return question(asked, known, {
      action: 'revoke',
      title: isDocument ? 'Block this application?' : 'Revoke this application?',
      says: isDocument
        ? 'Every token that it holds ends at once, for everybody. Its URL is no application here until it is unblocked.'
        : 'Every token that it holds ends at once, for everybody. It never lives again: its makers need a new registration.',
      button: isDocument ? 'Block it' : 'Revoke it for good',
    });
  },
  unblock: (asked, known) =>
    question(asked, known, {
      action: 'unblock',
      title: 'Unblock this URL?',
      says:
        'It may be an application again, once its document has been read anew. Nothing that it was given before lives again, and everybody ' +
        'is asked anew.',
      button: 'Unblock it',
    }),
  'rotate-secret': (asked, known) =>
    question(asked, known, {
      action: 'rotate-secret',
      title: 'Give this application a new secret?',
      says: 'The new secret is shown once, on the next page. Its tokens stay as they are.',
      more: rotationForm(OVERLAPS),
      button: 'Make a new secret',
    }),
};

function question(
  asked: Asked,
  known: Client,
  about: {
    readonly action: string;
    readonly title: string;
    readonly says: string;
    readonly more?: Markup;
    readonly button: string;
  },
): { readonly title: string; readonly body: Markup } {
  const { links, fields } = asked;
  const { action, title, says, more, button } = about;
  const kind = action === 'revoke' ? 'danger' : 'primary';
  return {
    title,
    body: markup`
      <p class="head"><strong>${clientName(known)}</strong> <span>${badges(known)}</span></p>
      <p class="soft">${code(known.id)}</p>
      <p>${says}</p>
      <form method="post" action="${links.client(known.id)}">
        ${fields({ action, target: known.id, state: stateOf(known) })}
        ${more}
        <p class="choices"><button class="${kind}" type="submit">${button}</button><a class="button" href="${links.client(known.id)}">Leave it as it is</a></p>
      </form>`,
  };
}

/** The URL of a document may be blocked before anybody has been shown it. */
function unknown(asked: Asked, id: string, refused: { readonly reason: string } | undefined) {
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
    title: 'Nobody has used this URL here',
    status: 404,
    body: markup`
      ${alert(refused)}
      <p>${code(id)}</p>
      <p>If documents may be applications here, it becomes one when somebody first comes with it. Blocked, it never does, until it is unblocked.</p>
      <form method="post" action="${links.client(id)}">
        ${fields({ action: 'revoke', target: id, state: null })}
        <p class="choices"><button class="danger" type="submit">Block it</button></p>
      </form>
      ${back}`,
  };
}
