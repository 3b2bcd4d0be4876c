import type { RegisteredTool } from '@portico/mcp';
import { type Finding } from 'portico';
import { failing, ok } from 'portico/extension';

/** A check of one tool. Returns the reason why the directory would reject the tool, or null. */
type Rule = (tool: RegisteredTool) => string | null;

interface Directory {
  /** The directory's name in the doctor's findings. */
  readonly called: string;
  /** The URL of the directory's published rules. */
  readonly source: string;
  readonly rules: readonly Rule[];
}

const CLAUDES_LONGEST_NAME = 64;
const CHATGPTS_HINTS = ['readOnlyHint', 'destructiveHint', 'openWorldHint'] as const;

/**
 * Portico can check tools against the rules of these directories. See
 * docs/chatgpt-and-directories.md.
 */
const DIRECTORIES = {
  claude: {
    called: "Claude's directory",
    source: 'https://claude.com/docs/connectors/building/review-criteria',
    rules: [
      ({ title, annotations }) =>
        title === null && (annotations?.title ?? '') === '' ? 'it has no title' : null,
      ({ annotations }) =>
        annotations?.readOnlyHint !== true && annotations?.destructiveHint === undefined
          ? 'its annotations must have readOnlyHint: true or a destructiveHint'
          : null,
      ({ name }) =>
        name.length > CLAUDES_LONGEST_NAME
          ? `its name is longer than ${CLAUDES_LONGEST_NAME} characters`
          : null,
    ],
  },
  chatgpt: {
    called: "ChatGPT's directory",
    source:
      'https://github.com/openai/plugins/blob/5fd93af4cd0c623e020d0cc7e9ce178b4ac1f70f/plugins/openai-developers/skills/chatgpt-app-submission/SKILL.md',
    rules: [
      ({ annotations }) => {
        const missing = CHATGPTS_HINTS.filter((hint) => annotations?.[hint] === undefined);
        return missing.length === 0 ? null : `its annotations lack ${missing.join(', ')}`;
      },
    ],
  },
} satisfies Readonly<Record<string, Directory>>;

/** A directory's name, as used on the command line. */
export type DirectoryName = keyof typeof DIRECTORIES;

export const DIRECTORY_NAMES = Object.keys(DIRECTORIES) as readonly DirectoryName[];

/**
 * Returns a finding for each tool that the directory would reject, with the reasons. If it would
 * reject no tool, returns one finding that says so.
 */
export function examineDirectory(
  name: DirectoryName,
  tools: readonly RegisteredTool[],
): readonly Finding[] {
  const { called, source, rules }: Directory = DIRECTORIES[name];
  const refused = tools.flatMap((tool) => {
    const reasons = rules.flatMap((rule) => rule(tool) ?? []);
    if (reasons.length === 0) return [];
    const message = `${called} would refuse ${tool.name}: ${reasons.join('; ')}`;
    return [failing(message, `change the tool so that it follows the rules in ${source}`)];
  });
  return refused.length > 0 ? refused : [ok(`all tools pass Portico's checks for ${called}`)];
}
