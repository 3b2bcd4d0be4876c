/**
 * The built-in views by name. The build fills this in, so that the published package reads no
 * folder and a bundler may move it. Empty in the sources, which read the folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};
