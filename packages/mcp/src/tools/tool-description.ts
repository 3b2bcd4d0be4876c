import { readAs } from '../protocol/protocol-types.ts';

/** A JSON Schema (2020-12), of a tool's arguments or of its result. That of arguments describes an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a client may expect of a tool before it calls it; hints, which change nothing here. */
export interface ToolAnnotations {
  /** A name for people, for clients that do not know `title()`. */
  readonly title?: string;
  /** It changes nothing. */
  readonly readOnlyHint?: boolean;
  /** It may change or remove what was there, not only add to it. */
  readonly destructiveHint?: boolean;
  /** Called again with the same arguments it changes nothing more. */
  readonly idempotentHint?: boolean;
  /** It reaches things outside of the application, such as the web. */
  readonly openWorldHint?: boolean;
}

/** A picture of a tool. */
export interface ToolIcon {
  /** An https URL, or a data URI in base64. Clients fetch it without credentials, best from the server's own origin. */
  readonly src: string;
  /** Its media type, where the source does not tell it. */
  readonly mimeType?: string;
  /** Such as `48x48`; `any` for one that scales. */
  readonly sizes?: string[];
  /** The background that it is made for. */
  readonly theme?: 'light' | 'dark';
}

/** What a tool may say of itself, for display and for careful clients. */
interface Describing {
  title?(): string;
  annotations?(): ToolAnnotations;
  icons?(): readonly ToolIcon[];
}

/** What it says; null for what it does not. */
interface Description {
  readonly title: string | null;
  readonly annotations: ToolAnnotations | null;
  readonly icons: readonly ToolIcon[] | null;
}

/** Asks a tool once. Throws for what MCP does not know, and for icons that would not be fetched over https. */
export function readDescription(name: string, tool: Describing): Description {
  const title = typeof tool.title === 'function' ? tool.title() : null;
  if (title !== null && (typeof title !== 'string' || title === '')) {
    throw new Error(`The title() of the tool ${name} is no text`);
  }
  return {
    title,
    annotations: typeof tool.annotations === 'function' ? readAnnotations(name, tool.annotations()) : null,
    icons: typeof tool.icons === 'function' ? readIcons(name, tool.icons()) : null,
  };
}

const ANNOTATIONS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const ICON_MEMBERS = ['src', 'mimeType', 'sizes', 'theme'];
const THEMES: readonly unknown[] = [undefined, 'light', 'dark'];
const ICON_SIZE = /^(?:any|[1-9]\d{0,4}x[1-9]\d{0,4})$/;
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/;

function readAnnotations(name: string, annotations: ToolAnnotations): ToolAnnotations {
  const unknown = Object.keys(annotations).find((key) => !ANNOTATIONS.includes(key));
  if (unknown !== undefined) {
    throw new Error(`The annotations() of the tool ${name} have ${unknown}, which MCP does not know`);
  }
  if (readAs('ToolAnnotations', annotations) === null) {
    throw new Error(`The annotations() of the tool ${name} are not those of MCP: a hint is true or false`);
  }
  return { ...annotations };
}

function readIcons(name: string, icons: readonly ToolIcon[]): readonly ToolIcon[] {
  return icons.map((icon, index) => {
    const problem = iconProblem(icon);
    if (problem !== null) throw new Error(`Icon ${index} of the tool ${name} ${problem}`);
    return { ...icon };
  });
}

function iconProblem(icon: ToolIcon): string | null {
  const unknown = Object.keys(icon).find((key) => !ICON_MEMBERS.includes(key));
  if (unknown !== undefined) return `has ${unknown}, which MCP does not know`;
  if (readAs('Icon', icon) === null) return 'is not as MCP has icons';
  if (!DATA_IMAGE.test(icon.src) && !isHttps(icon.src)) {
    return 'has a src that is neither an https URL nor an image as a data URI in base64';
  }
  if (icon.sizes?.some((size) => !ICON_SIZE.test(size)) === true)
    return 'has sizes that are not such as 48x48, or any';
  return THEMES.includes(icon.theme) ? null : 'has a theme that is neither light nor dark';
}

function isHttps(src: string): boolean {
  const url = URL.parse(src);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}
