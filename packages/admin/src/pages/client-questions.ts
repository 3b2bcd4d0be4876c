import type { Client } from 'portico';
import { badges } from '../client-badges.ts';
import { markup, type Html } from '../html.ts';
import type { Asked, Refused, Shown } from '../page.ts';
import { alert, clientName, code } from '../formatting.ts';
import { rotationFields } from './rotating.ts';
import { updateFields } from './updating.ts';

/**
 * Returns the client's data for the form's state. Omits the time of the client's last use, because
 * it changes often, and each change would invalidate the form.
 */
export function getState(known: Client | null): unknown {
  return known === null ? null : { ...known, usedAt: null };
}

/** Creates a page that explains an action and contains the form for it. */
export type Question = (asked: Asked, known: Client, refused: Refused | undefined) => Shown;

/** The actions for an application. The keys are the names that the forms submit. */
export const QUESTIONS: ReadonlyMap<string, Question> = new Map<string, Question>([
  [
    'update',
    (asked, known, refused) =>
      question(asked, known, refused, {
        action: 'update',
        title: 'Change this application',
        says: 'All changes are saved, or none. The application keeps its id and its credentials.',
        more: updateFields(known, asked, refused),
        button: 'Save',
      }),
  ],
  [
    'revoke',
    (asked, known, refused) => {
      const isDocument = known.registeredBy === 'document';
      return question(asked, known, refused, {
        action: 'revoke',
        title: isDocument ? 'Block this application?' : 'Revoke this application?',
        says: isDocument
          ? 'All its tokens stop working immediately, for everyone. People cannot use this ' +
            'application ' +
            'until you unblock its URL.'
          : 'All its tokens stop working immediately, for everyone. You cannot undo this: its ' +
            'developers ' +
            'need a new registration.',
        button: isDocument ? 'Block it' : 'Revoke it permanently',
      });
    },
  ],
  [
    'unblock',
    (asked, known, refused) =>
      question(asked, known, refused, {
        action: 'unblock',
        title: 'Unblock this URL?',
        says:
          'People can use this application again after Portico has fetched its document. ' +
          'Earlier access stays revoked: the application must ask everyone again.',
        button: 'Unblock it',
      }),
  ],
  [
    'rotate-secret',
    (asked, known, refused) =>
      question(asked, known, refused, {
        action: 'rotate-secret',
        title: 'Give this application a new secret?',
        says: "The next page shows the new secret once. The application's tokens stay valid.",
        more: rotationFields(),
        button: 'Create a new secret',
      }),
  ],
]);

interface Asking {
  readonly action: string;
  readonly title: string;
  readonly says: string;
  readonly more?: Html;
  readonly button: string;
}

function question(
  asked: Asked,
  known: Client,
  refused: Refused | undefined,
  asking: Asking,
): Shown {
  const { links, fields } = asked;
  const { action, title, says, more, button } = asking;
  const kind = action === 'revoke' ? 'danger' : 'primary';
  return {
    title,
    body: markup`
      ${alert(refused)}
      <p class="head"><strong>${clientName(known)}</strong> <span>${badges(known)}</span></p>
      <p class="soft">${code(known.id)}</p>
      <p>${says}</p>
      <form method="post" action="${links.client(known.id)}">
        ${fields({ action, target: known.id, state: getState(known) })}
        ${more}
        <p class="choices"><button class="${kind}" type="submit">${button}</button><a class="button" href="${links.client(known.id)}">Cancel</a></p>
      </form>`,
  };
}
