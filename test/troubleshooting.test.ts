// @engines sqlite: it only reads files
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSection as sectionOfPart } from '../packages/portico/src/console/sections.ts';
import { ROOT } from './support/console.ts';

/** A reader of a log line, or of a finding of the doctor, finds its section. */
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
/** A text in double quotes, because it has an apostrophe, becomes a template. */
const withoutDoubleQuotes = (code: string) => code.replaceAll(/"([^"\n]*'[^"\n]*)"/g, '`$1`');
const PAGE = read('docs/troubleshooting.md');
/** The page is about a running server, not about `create-portico`, which runs once. */
const SOURCES = globSync('packages/*/src/**/*.ts', { cwd: ROOT })
  .filter(
    (file) => !/\.(?:test|fixture)\.ts$/.test(file) && !file.startsWith('packages/create-portico/'),
  )
  .map((file) => ({ file, text: withoutDoubleQuotes(read(file)) }));
/** The same without comments: their examples log and throw the messages of an application. */
const CODE = SOURCES.map(({ file, text }) => ({ file, text: text.replaceAll(/^ *\*.*$/gm, '') }));

function sectionOf(heading: string): string {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  return section.split('\n## ')[0] ?? '';
}

/** The first column of the tables below a heading, if it is code. */
function listed(heading: string): readonly string[] {
  const cells = sectionOf(heading)
    .split('\n')
    .flatMap((line) => (line.startsWith('| `') ? [line.split(' | ')[0] ?? ''] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
}

const TEXT = String.raw`(?:'(?:[^'\\]|\\.)*'|\`[^\`]*\`)(?:\s*\+\s*(?:'(?:[^'\\]|\\.)*'|\`[^\`]*\`))*`;
/** The text between the quotes; `${name}` of a template becomes `{name}`. */
const joined = (literal: string) =>
  [...literal.matchAll(/'((?:[^'\\]|\\.)*)'|`([^`]*)`/g)]
    .map(
      ([, quoted, template = '']) =>
        quoted?.replaceAll(/\\(.)/g, '$1') ?? template.replaceAll('${', '{'),
    )
    .join('');

interface LoggedMessage {
  readonly file: string;
  readonly level: string;
  readonly message: string;
}

/** A call that logs, except one that forwards what it received. */
const CALL = String.raw`\b[lL]og(?:\(\))?\??\.(warning|error|info)\((?!message\b)\s*`;

/**
 * Everything logged at `warning` or `error`, and the lines of refusals; a name stands for the text
 * that its file gives it.
 */
function loggedMessages(): readonly LoggedMessage[] {
  return CODE.flatMap(({ file, text }) => {
    const calls = [...text.matchAll(new RegExp(`${CALL}(?:(${TEXT})|(\\w+))`, 'g'))];
    return calls.flatMap(([, level = '', literal, name = '']) => {
      const named = literal ?? new RegExp(String.raw`const ${name} =\s*(${TEXT})`).exec(text)?.[1];
      const message = named === undefined ? name : joined(named);
      return level === 'info' && !message.includes(' refused: ') ? [] : [{ file, level, message }];
    });
  });
}

/** A message of the page may leave out a part: `…`. */
function stands(message: string, inPage: readonly string[]): boolean {
  return inPage.some((entry) => {
    const [beginning = '', ...more] = entry.split('…').map((part) => part.trim());
    const end = more.at(-1) ?? '';
    return more.length === 0
      ? message === entry
      : message.startsWith(beginning) && message.endsWith(end);
  });
}

interface ThrownMessage {
  readonly file: string;
  readonly message: string;
}

/**
 * Texts for a person who starts an application or runs a command: thrown Errors, and refusals of a
 * command.
 */
function thrownMessages(): readonly ThrownMessage[] {
  const thrown = String.raw`(?:throw new Error|new (?:Console|Registration|Access|Account|KeyRotation|KeysLost|Listing)Error|\.fail)\(\s*(?://.*\s*)*(?:[^'\`();]*\?\s*)?(${TEXT}(?:\s*\+\s*${TEXT})*)`;
  return CODE.flatMap(({ file, text }) => {
    const named = [...text.matchAll(/(?:\.fail|Error)\(([A-Z][A-Z\d_]+)[[)]/g)].flatMap(
      ([, name = '']) => textsOf(name),
    );
    const given = [...text.matchAll(new RegExp(thrown, 'g')), ...named];
    return given.map(([, literal = '']) => ({
      file,
      message: joined(literal).split('\\n')[0] ?? '',
    }));
  });
}

/** The texts of a constant, in any file. */
function textsOf(name: string): readonly RegExpExecArray[] {
  const declared = new RegExp(String.raw`const ${name} =\s*([^]*?);\n`);
  const whole = SOURCES.flatMap(({ text }) => declared.exec(text)?.[1] ?? []);
  return whole.flatMap((value) => [
    ...value.matchAll(new RegExp(String.raw`(${TEXT}(?:\s*\+\s*${TEXT})*)`, 'g')),
  ]);
}

/** Whether an entry of the page, in which `…` stands for any text, is this message. */
function isMeant(message: string, entry: string): boolean {
  const parts = entry
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(message.trim());
}

describe('a message at a failed start, or from a command', () => {
  const entries = [...listed('It does not start'), ...listed('A command refuses')];
  const messages = thrownMessages();
  /** How a line about the configuration continues after the key. */
  const verbs = /^(?:must|is|has|needs|contains|does not|issues)\b/;

  test('is on the page', () => {
    const missing = messages.filter(
      ({ message }) => !entries.some((entry) => isMeant(message, entry)),
    );
    expect(missing).toEqual([]);
    expect(messages.length).toBeGreaterThan(80);
  });

  test('is not on the page if no code prints it', () => {
    const stale = entries.filter(
      (entry) => !verbs.test(entry) && !messages.some(({ message }) => isMeant(message, entry)),
    );
    expect(stale).toEqual([]);
  });

  test('about the configuration has its wording explained on the page', () => {
    const files =
      /(?:\/config|application\/(?:configuration|keys|public-url)|packages\/mcp\/src\/plugin)\.ts$/;
    const said = /(?:\berror: |\bmessage: |\.(?:min|max|regex)\([^'`\n]*, )['`]((?!\$)[^'`]+)/g;
    const found = SOURCES.filter(({ file }) => files.test(file)).flatMap(({ file, text }) =>
      [...text.matchAll(said)].map(([, message = '']) => ({ file, message })),
    );
    const ways = entries.filter((entry) => verbs.test(entry));
    const unexplained = found.filter(({ message }) => !ways.some((way) => isMeant(message, way)));
    expect(unexplained).toEqual([]);
    expect(found.length).toBeGreaterThan(40);
  });
});

describe('the reason in brackets in the log line of a refusal', () => {
  const files =
    /^packages\/(?:admin\/src\/(?:administration|forms)\.ts|portico\/src\/(?:keys\/jws\/(?:compact|dpop-proof)|(?:assembly|authorization|clients|endpoints|features\/[\w-]+|grants|http\/outbound|keys\/assertions|tokens)\/|(?:parameters|profiles|refusals|resource\/authentication-requirement|resource\/bearer|resource\/token-accessor)\.ts))/;
  /**
   * Texts of these files are about the configuration, a registration, the doctor or the
   * documentation, and are listed elsewhere.
   */
  const elsewhere =
    /\/(?:access|claims|complete-host|feature-profiles|held-access|redirect-uris|round-trip|secrets|table-examination|workloads|changed-client|logos\/endpoint|device\/codes|jwt-bearer\/(?:links|pairs)|replies\/documents|back-channel-logout\/(?:delivery|ended-families|metadata|sessions)|(?:audit|branding|health|languages|telemetry)\/(?:[\w-]+\/)?[\w-]+|features\/[\w-]+\/(?:commands|config|elliptic-curves|examination|index|records|resource-metadata|resources))\.ts$/;
  /**
   * A reason begins in lower case, and has words; so does one of these, which is not a reason, or
   * is a part of one.
   */
  const others = new Set(
    [
      'a client|its keys|of its keys|of its client_name|refresh token|a pushed request of|it is …|to introspection|as bound|workload tokens',
      'claimed proof|client revoked|authorization revoked|grant removed|too large|broke off|of …|the … …|for … of …',
      'is also provided by the feature … (…); remove one of the two features|… (oauth_server:profile is fapi2)|needs oauth_server:dpop; set oauth_server:dpop to "accept" or "require"',
    ].flatMap((texts) => texts.split('|')),
  );
  /** The rules of a profile are sentences, or continue after a key of the configuration. */
  const ofRule = (file: string, text: string) =>
    file.endsWith('/fapi2/rules.ts') && !/^(?:it|its|one of its) /.test(text);
  const codeOf = (text: string) =>
    text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/ .*$|^import [^]*?;$/gm, '');
  const textsIn = (code: string) =>
    [...code.matchAll(new RegExp(TEXT, 'g'))].map(([literal]) => literal);
  const cut = (literal: string) =>
    joined(literal.replaceAll(/\$\{[^{}]*\}/g, '…'))
      .replaceAll(/…+/g, '…')
      .trim();

  /** Of a refusal without a private reason, the sentence for the client. */
  function told(code: string): readonly string[] {
    const made = [...code.matchAll(/new (?:OAuth|BodyTooLarge)Error\(([^]*?),?\s*\);\n/g)];
    return made.flatMap(([, given = '']) => {
      const sentences = textsIn(given).filter((text) => /^[A-Z]/.test(cut(text)));
      return given.endsWith(sentences.at(-1) ?? '.') ? sentences.map(cut) : [];
    });
  }

  const isReason = (file: string, text: string) =>
    /^(?:(?:DPoP )?[a-z][\w'=-]*[,:;]? .*[\w…]|…[,:;]? .*\w)/.test(text) &&
    !ofRule(file, text) &&
    !others.has(text);
  const reasons = SOURCES.filter(({ file }) => files.test(file) && !elsewhere.test(file)).flatMap(
    ({ file, text }) => {
      const code = codeOf(text);
      const own = textsIn(code).map(cut);
      const found = [...own.filter((each) => isReason(file, each)), ...told(code)];
      return found.map((reason) => ({ file, reason }));
    },
  );
  const entries = listed('Reasons of refusals');
  /** In the line, other text may precede and follow the text in the code. */
  const isOf = (reason: string) => {
    const bare = reason
      .replace(/^(?:(?:assertion|DPoP proof) refused: |…[;,] )(?=\w)/, '')
      .replace(/[:;]? …$/, '');
    return (entry: string) => {
      const said = entry.replace(/[:;]? …$/, '');
      return said === bare || said.endsWith(` ${bare}`);
    };
  };

  test('is on the page', () => {
    const missing = reasons.filter(({ reason }) => !entries.some(isOf(reason)));
    expect(missing).toEqual([]);
    expect(reasons.length).toBeGreaterThan(200);
  });

  test('is not on the page if no code prints it', () => {
    const stale = entries.filter((entry) => !reasons.some(({ reason }) => isOf(reason)(entry)));
    expect(stale).toEqual([]);
  });

  test('is first on the page if it is the most common one', () => {
    expect(entries[0]).toBe('the secret is wrong');
  });
});

describe('docs/troubleshooting.md', () => {
  const messages = loggedMessages();

  test('contains every message that is logged at warning or error, and those of refusals', () => {
    const inPage = listed('Messages of the log');
    const missing = messages.filter(({ message }) => !stands(message, inPage));
    expect(missing).toEqual([]);
    expect(messages.length).toBeGreaterThan(20);
  });

  test('is compared with every call that logs at those levels', () => {
    const calls = CODE.flatMap(({ text }) => [...text.matchAll(new RegExp(CALL, 'g'))]);
    const heeded = calls.filter(([, level]) => level !== 'info');
    expect(messages.filter(({ level }) => level !== 'info')).toHaveLength(heeded.length);
  });

  test('contains no message that is no longer logged', () => {
    const stale = listed('Messages of the log').filter(
      (entry) => !messages.some(({ message }) => stands(message, [entry])),
    );
    expect(stale).toEqual([]);
  });

  test('has the right level of each message', () => {
    const wrong = messages.filter(({ message, level }) => {
      const row = sectionOf('Messages of the log')
        .split('\n')
        .find((line) => {
          const [, entry] = /^\| `([^`]+)` \| +\w+/.exec(line.replaceAll(/ +\|/g, ' |')) ?? [];
          return entry !== undefined && stands(message, [entry]);
        });
      return row !== undefined && !new RegExp(String.raw`\| +${level} +\|`).test(row);
    });
    expect(wrong).toEqual([]);
  });

  test('contains every part that a doctor reports', () => {
    const doctors = SOURCES.filter(({ file }) =>
      /console\/|features\/|assistant\/(?:doctor|commands)/.test(file),
    );
    const parts = doctors.flatMap(({ text }) => [
      ...[...text.matchAll(/\bpart(?: =|:) '([^']+)'/g)].map(([, part = '']) => part),
      ...[...text.matchAll(/\['([\w ]+)', (?:examine|sqlite\.|postgres\.|mysql\.)/g)].map(
        ([, part = '']) => part,
      ),
      ...[...text.matchAll(/\bcheck(?:ed)?\((?:log, )?'([^']+)'/g)].map(([, part = '']) => part),
    ]);
    const inPage = listed('Findings of the doctor');
    expect(parts.filter((part) => !inPage.includes(part))).toEqual([]);
    expect(new Set(parts).size).toBeGreaterThan(20);
  });

  test('contains the sections to which the doctors link', () => {
    const rows = sectionOf('Findings of the doctor')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const wrong = rows.flatMap((line) => {
      const [parts = '', , cell = ''] = line.split(' | ');
      const link = /\]\(([^)]+)\)/.exec(cell)?.[1];
      const section =
        link === undefined
          ? null
          : path.join('docs', link.startsWith('#') ? `troubleshooting.md${link}` : link);
      return [...parts.matchAll(/`([^`]+)`/g)]
        .filter(([, part = '']) => sectionOfPart(part) !== section)
        .map(([, part]) => part);
    });
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(20);
  });

  test('links only to existing sections', () => {
    const anchors = (page: string) =>
      new Set(
        [...page.matchAll(/^#{2,} (.+)$/gm)].map(([, heading = '']) =>
          heading
            .toLowerCase()
            .replaceAll(/[^\w\- ]/g, '')
            .replaceAll(' ', '-'),
        ),
      );
    const links = [...PAGE.matchAll(/\]\(([\w./-]*)#([\w-]+)\)/g)].map(
      ([, file = '', anchor = '']) => ({
        file,
        anchor,
      }),
    );
    const broken = links.filter(
      ({ file, anchor }) =>
        !anchors(file === '' ? PAGE : read(path.join('docs', file))).has(anchor),
    );
    expect(broken).toEqual([]);
  });
});
