import { KeyRotationError, RegistrationError, type KeyDescription } from 'portico';
import { markup, type HtmlContent, type Html } from '../html.ts';
import type { Asked, Page, Refused, Shown } from '../page.ts';
import { alert, code, moment, notice } from '../formatting.ts';

const DONE = {
  rotate:
    'Done. The next keys are published, and sign from the time shown below. Keys that are no ' +
    'longer needed are removed.',
  'rotate-now': 'Done. The new keys sign now. All other keys are removed.',
};

interface Question {
  readonly title: string;
  readonly says: string;
  readonly button: string;
}

/** The two ways to rotate the keys: with or without `--now`, as in the CLI. */
const QUESTIONS: ReadonlyMap<string, Question> = new Map([
  [
    'rotate',
    {
      title: 'Replace the signing keys?',
      says:
        'The next key of each algorithm is published now and signs in 15 minutes, when every ' +
        'cache has it. A key that is already waiting ' +
        'is used instead of another new one. Keys that no ID token needs any more are removed.',
      button: 'Replace them',
    },
  ],
  [
    'rotate-now',
    {
      title: 'Replace the signing keys at once?',
      says:
        'Do this if a key may have been stolen. New keys sign immediately, and all old keys are ' +
        'removed. ID tokens that the old keys signed are then refused. Applications that cache ' +
        'the key set refuse new ID tokens until they fetch the key set again. Access tokens and ' +
        'refresh tokens stay valid.',
      button: 'Replace them at once',
    },
  ],
]);

/**
 * The page /oauth/admin/keys. It shows the keys that sign ID tokens, and lets the administrator
 * rotate them.
 */
export const keys: Page = {
  async show(asked, refused) {
    const { parts, query, links } = asked;
    const all = await parts.server.keys.list();
    const ask = (refused === undefined ? query.get('ask') : refused.form.get('do')) ?? '';
    const asking = QUESTIONS.get(ask);
    if (asking !== undefined) return question(asked, all, { ask, asking, refused });
    return {
      title: 'Signing keys',
      body: markup`
      ${notice(asked, DONE)}${alert(refused)}
      ${
        all.length === 0
          ? markup`<p>There is no signing key, so no client gets an ID token. Run <code>npx portico oauth:server:setup</code>.</p>`
          : markup`<ul class="rows" role="list">${all.map((key) => keyRow(key, 2))}</ul>
      <ul class="choices" role="list">
        <li><a class="button" href="${links.keys}?ask=rotate">Replace them…</a></li>
        <li><a class="button" href="${links.keys}?ask=rotate-now">Replace them at once…</a></li>
      </ul>`
      }`,
    };
  },

  async act({ form, accept, parts, person, links }) {
    const ask = form.get('do') ?? '';
    if (!QUESTIONS.has(ask)) return null;
    const { keys: ring } = parts.server;
    await accept({ action: ask, target: '', state: getState(await ring.list()) });
    try {
      await ring.rotate({ by: person, ...(ask === 'rotate-now' ? { now: true } : {}) });
    } catch (error) {
      if (error instanceof KeyRotationError) throw new RegistrationError(error.message);
      throw error;
    }
    return { goTo: `${links.keys}?done=${ask}` };
  },
};

/**
 * Returns the state of all keys. If this state changes after the page shows a form, the form is
 * rejected.
 */
function getState(all: readonly KeyDescription[]): unknown {
  return all.map(({ kid, state }) => [kid, state]);
}

const STATES: Readonly<Record<KeyDescription['state'], readonly [text: string, mark: string]>> = {
  signing: ['signs', ' good'],
  staged: ['published, signs later', ''],
  published: ['published, held back', ''],
  retired: ['verifies only', ''],
};

/**
 * Returns a list item that describes a key and its use. `level` is the level of the heading above
 * the list.
 */
export function keyRow(
  { kid, algorithm, createdAt, state, signsFrom, retiredAt, removableAt, file }: KeyDescription,
  level: 2 | 3,
): Html {
  const [text, mark] = STATES[state];
  const times: readonly (readonly [string, number | null])[] = [
    ['made', createdAt],
    [
      state === 'staged' ? 'signs from' : state === 'signing' ? 'signing since' : 'signed from',
      signsFrom,
    ],
    ['stopped signing', retiredAt],
    ['can be removed from', removableAt],
  ];
  const told: readonly HtmlContent[] = times.flatMap(([what, time]) =>
    time === null ? [] : [markup`, ${what} ${moment(time)}`],
  );
  return markup`
        <li>
          <h${level} class="head">${code(kid)} <span class="badge${mark}">${text}</span></h${level}>
          <p class="soft">${algorithm}${told}${file === null ? ', signed by a KeySigner' : null}</p>
        </li>`;
}

function question(
  { fields, links }: Asked,
  all: readonly KeyDescription[],
  {
    ask,
    asking: { title, says, button },
    refused,
  }: { readonly ask: string; readonly asking: Question; readonly refused: Refused | undefined },
): Shown {
  return {
    title,
    body: markup`
      ${alert(refused)}
      <p>${says}</p>
      <form method="post" action="${links.keys}">
        ${fields({ action: ask, target: '', state: getState(all) })}
        <p class="choices"><button class="${ask === 'rotate' ? 'primary' : 'danger'}" type="submit">${button}</button><a class="button" href="${links.keys}">Cancel</a></p>
      </form>`,
  };
}
