/** Writes docs/messages.md: each message of the pages for people, by its key. test/words.test.ts holds it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as prettier from 'prettier';
import { APPLICATIONS } from '../src/words/english/applications.ts';
import { CONSENT } from '../src/words/english/consent.ts';
import { ERROR } from '../src/words/english/error.ts';
import { SIGN_IN } from '../src/words/english/sign-in.ts';
import { WHO_ASKS } from '../src/words/english/who-asks.ts';
import { formsOf, type Catalog } from '../src/words/message.ts';

const PAGE = path.join(import.meta.dirname, '..', 'docs', 'messages.md');

const SECTIONS: readonly (readonly [title: string, messages: Catalog])[] = [
  ['Sign-in', SIGN_IN],
  ['Who asks', WHO_ASKS],
  ['Consent', CONSENT],
  ['Applications with access', APPLICATIONS],
  ['Errors', ERROR],
];

const INTRODUCTION = `# Messages

What the pages for people say in English, by the keys that [a file of yours](pages.md#words-of-your-own) may have. A word in braces is a placeholder, and has to be in your text
too. Of two texts the first is for one, and the second for every other number. Written by \`npm run messages\`.
`;

/** The page, as it has to be. */
export async function messagesPage(): Promise<string> {
  const sections = SECTIONS.map(([title, messages]) => {
    const rows = Object.entries(messages).map(
      ([key, message]) => `| \`${key}\` | ${formsOf(message).join('<br>')} |`,
    );
    return `## ${title}\n\n| Key | In English |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  const options = await prettier.resolveConfig(PAGE);
  return prettier.format([INTRODUCTION, ...sections].join('\n'), { ...options, filepath: PAGE });
}

if (import.meta.main) writeFileSync(PAGE, await messagesPage());
