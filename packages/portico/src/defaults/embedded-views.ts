/**
 * The built-in views by name. The build fills this in, so that the published package reads no
 * folder and a bundler may move it. In the sources, this is empty and the folders are read.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};
