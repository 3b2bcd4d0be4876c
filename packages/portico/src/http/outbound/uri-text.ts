import { isIPv4 } from 'node:net';

/** Checks the text of URLs from clients. Every parser must read the URL that users see. */

/**
 * Matches a character that a URI cannot contain (RFC 3986 section 2), or a percent sign without two
 * hexadecimal digits.
 */
const FOREIGN = /%(?![0-9A-Fa-f]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]/u;
const HTTP_AUTHORITY = /^https?:\/\/([^/?#\\]*)/i;
/** Matches what a URL parser reads as credentials and host, even after too few or wrong slashes. */
const PARSED_HOST = /^(?:https?|wss?|ftp|file):[/\\]*(?:[^/?#\\]*@)?([^/?#\\]*)/i;
/** A longer host has no address (RFC 1035 2.3.4). */
const LONGEST_HOST = 255;
const BEHIND_AUTHORITY = /^[^:/?#]+:(?:\/\/[^/?#]*)?(.*)$/;

/**
 * Returns a problem if the text is not a valid URI, or if browsers would change its host.
 * Otherwise, returns null.
 */
export function uriTextProblem(text: string): string | null {
  const host = hostProblem(text);
  if (host !== null) return host;
  const [found] = FOREIGN.exec(text) ?? [];
  if (found === '%') return 'has a percent sign that does not begin an escape; write it as %25';
  if (found !== undefined) {
    return (
      `has the character ${codePoint(found)}, which is not allowed in a URI (RFC 3986); ` +
      'percent-encode it'
    );
  }
  if (/[[\]]/.test(BEHIND_AUTHORITY.exec(text)?.[1] ?? '')) {
    return (
      'has a bracket after the host, which is not allowed in a URI (RFC 3986); write %5B and ' +
      '%5D'
    );
  }
  return null;
}

/**
 * Returns a problem if browsers would change the host, or null. Users must see the host that
 * browsers use. Examples: `0x7f000001` becomes an IP address, and international names become ASCII.
 */
function hostProblem(text: string): string | null {
  // Check the length first, because the URL parser's time grows with its square. The parser skips
  // tabs and line breaks.
  const [, parsed = ''] = PARSED_HOST.exec(text.replaceAll(/[\t\n\r]/g, '')) ?? [];
  if (withoutPort(parsed).length > LONGEST_HOST)
    return `has a host with more than ${LONGEST_HOST} characters`;
  const authority = HTTP_AUTHORITY.exec(text)?.[1];
  if (authority === undefined || !URL.canParse(text)) return null;
  if (authority === '') return 'has no host after its slashes';
  const written = withoutPort(authority.slice(authority.lastIndexOf('@') + 1));
  const { hostname } = new URL(text);
  if (written.toLowerCase() === hostname || !/^[\w.:[\]-]+$/.test(hostname)) return null;
  if (isIPv4(hostname))
    return `has a host that stands for the address ${hostname}; write that address`;
  return `has a host that browsers write as ${hostname}; use that form`;
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '');
}

function codePoint(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`;
}
