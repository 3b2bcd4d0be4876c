import { z } from 'zod';
import { assistantConfiguration } from '../../../packages/assistant/src/config.ts';
import { kitConfiguration } from '../../../packages/portico/src/application/keys.ts';
import { mcpConfiguration } from '../../../packages/mcp/src/configuration.ts';
import { administration } from '../../../packages/admin/src/feature.ts';
import { importing } from '../../../packages/import/src/feature.ts';
import { configurationWith } from '../../../packages/portico/src/assembly/feature-configuration.ts';
import { globSync } from 'node:fs';
import { interfacesOf, type Member } from './interfaces.ts';

/** A key of the configuration, with its type and its description. */
export interface Key {
  /** The parts of the key, joined by colons. */
  readonly key: string;
  readonly type: string;
  readonly says: string;
  readonly defaultValue: string;
}

const FILES = [
  'packages/portico/src/application/typed-configuration.ts',
  'packages/portico/src/config.ts',
  'packages/portico/src/http/outbound/hosts.ts',
  'packages/admin/src/config.ts',
  'packages/import/src/config.ts',
  'packages/mcp/src/config.ts',
  'packages/assistant/src/config.ts',
];

/** The part of a zod 4 schema that this file reads. */
interface Schema {
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly def: {
    readonly type: string;
    readonly innerType?: Schema;
    readonly options?: readonly Schema[];
    readonly defaultValue?: unknown;
    readonly valueType?: Schema;
    readonly element?: Schema;
    readonly entries?: Readonly<Record<string, string>>;
    readonly values?: readonly unknown[];
  };
}

/**
 * Returns the options that an application sets in code and not in the configuration, by the
 * function that takes them.
 */
export function optionsOf(
  root: string,
): readonly { readonly takenBy: string; readonly options: readonly Member[] }[] {
  const files = [
    'packages/portico/src/application/definition.ts',
    'packages/portico/src/plugin.ts',
    'packages/portico/src/features/telemetry/opentelemetry/opentelemetry.ts',
  ];
  const interfaces = interfacesOf(root, files);
  return Object.entries(TAKEN).map(([takenBy, name]) => ({
    takenBy,
    options: interfaces.get(name) ?? [],
  }));
}

const TAKEN = {
  'defineApplication()': 'ApplicationDefinition',
  'oauthServer()': 'OAuthServerPluginOptions',
  'opentelemetry()': 'OpenTelemetryOptions',
} as const;

/**
 * Returns all keys, and what is wrong with them. A problem is a key without a comment, a comment
 * without a key, and a default or a type that differs from the schema.
 */
export function keysOf(root: string): {
  readonly keys: readonly Key[];
  readonly problems: readonly string[];
} {
  const ofFeatures = globSync('packages/{portico,mcp}/src/features/*/config.ts', {
    cwd: root,
  }).sort();
  const interfaces = interfacesOf(root, [...FILES, ...ofFeatures]);
  const problems: string[] = [];

  function section(prefix: string, schema: Schema | null, name: string): readonly Key[] {
    const members = interfaces.get(name) ?? [];
    const { shape = null } = schema === null ? {} : objectIn(schema);
    for (const known of Object.keys(shape ?? {}).filter(
      (key) => !members.some((member) => member.name === key),
    ))
      problems.push(`${prefix}${known} is not in ${name}, where its doc comment belongs`);
    return members.flatMap((member) => keyOf(prefix, member, shape?.[member.name] ?? null, name));
  }

  function keyOf(
    prefix: string,
    member: Member,
    schema: Schema | null,
    owner: string,
  ): readonly Key[] {
    const key = `${prefix}${member.name}`;
    if (member.says === '') problems.push(`${key} has no doc comment, in ${owner}`);
    const { says, end } = withoutDefault(member.says);
    const value = schema === null ? undefined : defaultOf(schema);
    const written = value === undefined ? null : literal(value);
    if (written !== null && end !== null && isLiteral(end) && end !== written)
      problems.push(
        `${key} is ${written} by default, and its doc comment says ${end}, in ${owner}`,
      );
    const below = [...interfaces.keys()].find((each) =>
      new RegExp(String.raw`\b${each}\b`).test(member.type),
    );
    const accepted = below === undefined && schema !== null ? typeIn(schema) : null;
    if (accepted !== null && !isSameType(accepted, member.type))
      problems.push(`${key} accepts ${accepted}, and its type is ${member.type}, in ${owner}`);
    const within = member.type.startsWith('Readonly<Record<string, ')
      ? `${key}:<name>:`
      : `${key}:`;
    return [
      { key, type: plainType(member.type, below), says, defaultValue: end ?? written ?? 'none' },
      ...(below === undefined ? [] : section(within, schema, below)),
    ];
  }

  const keys = [
    ...section('', asSchema(z.object(kitConfiguration('prod', ''))), 'KitConfigInput'),
    ...section(
      'oauth_server:',
      asSchema(configurationWith([administration, importing])),
      'OAuthServerConfigInput',
    ),
    ...section('mcp:', asSchema(mcpConfiguration), 'McpConfigInput'),
    ...section('assistant:', asSchema(assistantConfiguration), 'AssistantConfigInput'),
  ];
  return { keys, problems };
}

/** Zod's own types describe less of a schema than the schema contains. */
function asSchema(schema: z.ZodType): Schema {
  const published: unknown = schema;
  return published as Schema;
}

/** Returns the object that a schema allows, without the schemas that wrap it. */
function objectIn(schema: Schema): Schema {
  const { innerType, options = [], valueType } = schema.def;
  const inside = [innerType, valueType, ...options].filter((each) => each !== undefined);
  return schema.shape === undefined
    ? (inside.map(objectIn).find(({ shape }) => shape !== undefined) ?? schema)
    : schema;
}

/** Returns the type of the values that a schema accepts. Null if the schema does not say it. */
function typeIn({ def }: Schema): string | null {
  const { innerType, element, valueType, options = [] } = def;
  const all = (schemas: readonly (Schema | undefined)[], join: (types: string[]) => string) => {
    const types = schemas.map((each) => (each === undefined ? null : typeIn(each)));
    return types.includes(null) ? null : join(types.filter((each) => each !== null));
  };
  const literals = def.values ?? Object.values(def.entries ?? {});
  switch (def.type) {
    case 'boolean':
    case 'string':
    case 'number':
      return def.type;
    case 'enum':
    case 'literal':
      return literals
        .map((each) => (typeof each === 'string' ? `'${each}'` : String(each)))
        .join(' | ');
    case 'array':
      // A list of certain texts may be written as a list of texts.
      return element?.def.type === 'enum'
        ? null
        : all([element], ([each = '']) => `readonly ${each}[]`);
    case 'record':
      return all([valueType], ([each = '']) => `Readonly<Record<string, ${each} | undefined>>`);
    case 'union':
      return all(options, (types) => types.join(' | '));
    default:
      return innerType === undefined ? null : typeIn(innerType);
  }
}

/** Whether both are the same type. The order of alternatives does not matter. */
function isSameType(accepted: string, written: string): boolean {
  const parts = (type: string) => type.split(' | ').toSorted().join(' | ');
  return parts(accepted) === parts(written);
}

function defaultOf({ def }: Schema): unknown {
  if (def.type === 'default') return def.defaultValue;
  return undefined;
}

// --- doc comments
// ---------------------------------------------------------------------------------------------

/**
 * Splits a comment such as `How long a code is valid, in seconds. Default: 60.` into a sentence and
 * a default.
 */
function withoutDefault(comment: string): { readonly says: string; readonly end: string | null } {
  if (comment.endsWith(' Required.'))
    return { says: comment.slice(0, -' Required.'.length), end: 'required' };
  const off = /^(.*[^,;])[,;]? or `off`, the default\.$/.exec(comment);
  if (off !== null) return { says: `${off[1] ?? ''}.`, end: '`off`' };
  const [, says = comment, end = null] =
    /^(.*)(?:; |\. Default: |\. )((?:[^;.`]|`[^`]*`)+)\.$/.exec(comment) ?? [];
  return end !== null && DEFAULT.test(end)
    ? { says: `${says}.`, end: end.replace(/, unless given$/, '') }
    : { says: comment, end: null };
}

/** Matches a default at the end of a comment. Any other end belongs to the sentence. */
const DEFAULT =
  /^(?:none|nowhere|never|nothing|false|true|no limit|`[^`]+`|\d+|the (?:host|scope)\b.*|.*, unless given|`DATABASE_URL`, or .*|where the `search_path` leads)$/;

const isLiteral = (text: string): boolean => /^(?:\d+|true|false|`(?!\w+:)[^`]*`)$/.test(text);

/**
 * Formats a default for the page. Numbers and booleans are plain, texts and lists are code, and an
 * empty value is "none".
 */
function literal(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (
    value === '' ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
    return 'none';
  if (Array.isArray(value)) return `\`[${value.map((each) => `'${String(each)}'`).join(', ')}]\``;
  return `\`${String(value)}\``;
}

/** Describes a type in the words of the page. A type that has members is a map. */
function plainType(type: string, below: string | undefined): string {
  const named =
    below === undefined ? type : type.replace(new RegExp(String.raw`\b${below}\b`), 'map');
  return named
    .replace('ClaimsMapper', '(user) => claims')
    .replace(
      /Readonly<Record<string, (.*)>>/,
      (_, value: string) => `map of ${value.replace(/ \| undefined$/, '')}`,
    )
    .replaceAll(/readonly (\w+)\[\]/g, 'list of $1')
    .replaceAll('ProtocolVersion', 'string')
    .replaceAll(/\{ readonly path: string;? \}/g, 'map')
    .replaceAll("'", '')
    .split(' | ')
    .map((each) =>
      each === 'boolean' || each === 'string' || each === 'number' ? WORDS[each] : each,
    )
    .join(' | ')
    .replaceAll('list of string', 'list of texts')
    .replaceAll('map of boolean', 'map of true or false')
    .replaceAll('map of unknown', 'map')
    .replaceAll('map of map', type.includes('ScopeInput') ? 'map of text or map' : 'map of maps');
}

const WORDS = { boolean: 'true or false', string: 'text', number: 'number' } as const;
