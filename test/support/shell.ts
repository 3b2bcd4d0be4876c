/** A command in a shell block. */
export interface ShellCommand {
  /** The line in the block. The first line is 1. */
  readonly line: number;
  /**
   * The words as the shell would pass them, without redirections and without assignments before the
   * command (`PORT=1 node …`).
   */
  readonly words: readonly string[];
}

/**
 * Matches a placeholder on a page, such as `<client_id>`. A shell would treat it as redirections.
 */
const PLACEHOLDER = /<[a-z][\w -]*>/gi;

/** Returns the block in a form that a shell can read: each placeholder becomes a word. */
export const filledIn = (code: string): string => code.replaceAll(PLACEHOLDER, 'filled-in');

const KEYWORDS = new Set(['while', 'until', 'if', 'then', 'else', 'do', 'for', '!', '{', '(']);
const ENDS = new Set(['done', 'fi', '}', ')', 'esac']);
const ASSIGNMENT = /^\w+\+?=/;
const SEPARATOR = /^(?:&&|\|\||[|;&()]|\n)/;
const REDIRECTION = /^\d?(?:>>|>|<)&?\d?/;

interface Token {
  readonly line: number;
  readonly text: string;
  readonly kind: 'word' | 'separator';
}

/**
 * Returns the commands of a block, including those in `$(…)`. Supports only the shell syntax that
 * the pages use. `bash -n` checks the syntax.
 */
export function commandsOf(code: string): readonly ShellCommand[] {
  const found: ShellCommand[] = [];
  let words: Token[] = [];
  const end = () => {
    while (
      words[0] !== undefined &&
      (KEYWORDS.has(words[0].text) || ASSIGNMENT.test(words[0].text))
    )
      words = words.slice(1);
    const [first] = words;
    if (first !== undefined && !ENDS.has(first.text))
      found.push({ line: first.line, words: words.map(({ text }) => text) });
    words = [];
  };
  for (const token of tokensOf(filledIn(code))) {
    if (token.kind === 'separator') end();
    else words.push(token);
    for (const [, inner = ''] of token.text.matchAll(/\$\(([^()]*)\)/g))
      found.push(...commandsOf(inner).map((command) => ({ ...command, line: token.line })));
  }
  end();
  return found;
}

function tokensOf(code: string): readonly Token[] {
  const tokens: Token[] = [];
  const text = code.replaceAll('\\\n', '  ');
  let [at, line] = [0, 1];
  while (at < text.length) {
    const rest = text.slice(at);
    const taken = takeFrom(rest);
    if (taken.token !== null) tokens.push({ line, ...taken.token });
    line += rest.slice(0, taken.length).split('\n').length - 1;
    at += taken.length;
  }
  return tokens;
}

/** Returns the first token of the text and its length, if there is one. */
function takeFrom(text: string): {
  readonly length: number;
  readonly token: Omit<Token, 'line'> | null;
} {
  const nothing = /^(?:[ \t]+|#[^\n]*)/.exec(text)?.[0];
  if (nothing !== undefined) return { length: nothing.length, token: null };
  const separator = SEPARATOR.exec(text)?.[0];
  if (separator !== undefined)
    return { length: separator.length, token: { kind: 'separator', text: separator } };
  const redirection = REDIRECTION.exec(text)?.[0];
  if (redirection !== undefined) {
    const target = /^[ \t]*\S+/.exec(text.slice(redirection.length))?.[0] ?? '';
    return { length: redirection.length + target.length, token: null };
  }
  const word =
    /^(?:'[^']*'|"(?:[^"\\]|\\.)*"|\$\([^()]*\)|\\.|[^\s'"|;&()<>\\])+/.exec(text)?.[0] ??
    text.slice(0, 1);
  // A quoted text is one word, even if it is a variable. An unquoted variable can expand to any
  // number of words.
  const isVariable = word.startsWith('"$');
  return {
    length: word.length,
    token: { kind: 'word', text: isVariable ? word : word.replaceAll(/^'|'$|^"|"$/g, '') },
  };
}
