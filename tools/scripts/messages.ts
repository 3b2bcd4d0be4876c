/** Writes docs/generated/messages.md. It lists each message of the pages for people, by its key. */
import { APPLICATIONS } from '../../packages/portico/src/pages/english/applications.ts';
import { CONSENT } from '../../packages/portico/src/pages/english/consent.ts';
import { DEVICE } from '../../packages/portico/src/pages/english/device.ts';
import { LOGOUT } from '../../packages/portico/src/pages/english/logout.ts';
import { ERROR } from '../../packages/portico/src/pages/english/error.ts';
import { RESPONSE } from '../../packages/portico/src/pages/english/response.ts';
import { SIGN_IN } from '../../packages/portico/src/pages/english/sign-in.ts';
import { WHO_ASKS } from '../../packages/portico/src/pages/english/who-asks.ts';
import { getForms, type Catalog } from '../../packages/portico/src/pages/message.ts';
import { writePage } from './write-page.ts';

const SECTIONS: readonly (readonly [title: string, messages: Catalog])[] = [
  ['Sign-in', SIGN_IN],
  ['Who asks', WHO_ASKS],
  ['Consent', CONSENT],
  ['Devices', DEVICE],
  ['Signing out', LOGOUT],
  ['Answers', RESPONSE],
  ['Applications with access', APPLICATIONS],
  ['Errors', ERROR],
];

const INTRODUCTION = `# Messages

What the pages for people say in English, by the keys that [a file of yours](../pages.md#words-of-your-own) may have. A word in braces is a placeholder, and has to be in your text
too. Of two texts the first is for one, and the second for every other number.
`;

/** Returns the page as Markdown, for docs/generated. */
export function messagesPage(): string {
  const sections = SECTIONS.map(([title, messages]) => {
    const rows = Object.entries(messages).map(
      ([key, message]) => `| \`${key}\` | ${getForms(message).join('<br>')} |`,
    );
    return `## ${title}\n\n| Key | In English |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

if (import.meta.main) writePage('messages', messagesPage());
