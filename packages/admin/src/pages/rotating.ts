import { markup, type Html } from '../html.ts';

/**
 * How long the server accepts the previous secret by default, in seconds. The CLI and
 * `rotateSecret` use the same default.
 */
const DEFAULT = 86_400;

/**
 * The choices for how long the server accepts the previous secret, in seconds. They match the CLI
 * options `--overlap` and `--now`.
 */
const OVERLAPS: readonly (readonly [seconds: number, text: string])[] = [
  [3600, 'for one hour'],
  [DEFAULT, 'for one day'],
  [7 * 86_400, 'for one week'],
  [30 * 86_400, 'for 30 days'],
  [0, 'not at all: the application fails until it has the new secret'],
];

export function rotationFields(): Html {
  return markup`<fieldset><legend>Accept the previous secret</legend>${OVERLAPS.map(
    ([seconds, text]) => markup`
      <label class="choice"><input type="radio" name="overlap" value="${seconds}"${
        seconds === DEFAULT ? markup` checked` : null
      }> ${text}</label>`,
  )}</fieldset>`;
}
