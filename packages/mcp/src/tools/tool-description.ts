import { readAs } from '../protocol/protocol-types.ts';

/**
 * A JSON Schema (2020-12) for a tool's arguments or its structured content. The schema for
 * arguments must describe an object.
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Hints that tell clients how a tool behaves before they call it. Portico itself ignores these
 * hints.
 */
export interface ToolAnnotations {
  /** A display name for clients that do not support `title()`. */
  readonly title?: string;
  /** Whether the tool only reads data and changes nothing. */
  readonly readOnlyHint?: boolean;
  /** Whether the tool may change or delete existing data. False if it only adds data. */
  readonly destructiveHint?: boolean;
  /** Whether repeating a call with the same arguments has no further effect. */
  readonly idempotentHint?: boolean;
  /** Whether the tool interacts with systems outside the application, such as the web. */
  readonly openWorldHint?: boolean;
}

/** An icon of a tool. */
export interface ToolIcon {
  /**
   * An https URL, or an image as a base64 data URI. Clients fetch the URL without credentials. If
   * possible, use a URL on the server's own origin.
   */
  readonly src: string;
  /** The media type of the icon. Set it if the source does not specify it. */
  readonly mimeType?: string;
  /** The sizes of the icon, such as `48x48`. Use `any` for a scalable icon. */
  readonly sizes?: string[];
  /** The theme of pages for which the icon is designed. */
  readonly theme?: 'light' | 'dark';
}

/**
 * The optional parts of a tool's description. Clients show them, or use them to decide whether to
 * ask the user before a call.
 */
interface Describing {
  title?(): string;
  annotations?(): ToolAnnotations;
  icons?(): readonly ToolIcon[];
}

/** The optional parts of a tool's description. A missing part is null. */
interface Description {
  readonly title: string | null;
  readonly annotations: ToolAnnotations | null;
  readonly icons: readonly ToolIcon[] | null;
}

/**
 * Reads and checks the optional parts of a tool's description. Throws if they have members that MCP
 * does not define. Also throws if an icon's source is neither an https URL nor an image as a data
 * URI.
 */
export function readDescription(name: string, tool: Describing): Description {
  const title = typeof tool.title === 'function' ? tool.title() : null;
  if (title !== null && (typeof title !== 'string' || title === '')) {
    throw new Error(`The title() of the tool ${name} must return a string that is not empty`);
  }
  return {
    title,
    annotations:
      typeof tool.annotations === 'function' ? readAnnotations(name, tool.annotations()) : null,
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
    throw new Error(
      `The annotations() of the tool ${name} contain ${unknown}, which MCP does not define`,
    );
  }
  if (readAs('ToolAnnotations', annotations) === null) {
    throw new Error(
      `The annotations() of the tool ${name} are invalid: each hint must be true or false`,
    );
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
  if (unknown !== undefined) return `has ${unknown}, which MCP does not define`;
  if (readAs('Icon', icon) === null) return 'is not a valid MCP icon';
  if (!DATA_IMAGE.test(icon.src) && !isHttps(icon.src)) {
    return 'has an invalid src: use an https URL, or an image as a base64 data URI';
  }
  if (icon.sizes?.some((size) => !ICON_SIZE.test(size)) === true)
    return 'has invalid sizes: use sizes such as 48x48, or any';
  return THEMES.includes(icon.theme) ? null : 'has an invalid theme: use light or dark';
}

function isHttps(src: string): boolean {
  const url = URL.parse(src);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}
