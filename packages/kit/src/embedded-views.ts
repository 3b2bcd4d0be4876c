/**
 * The built-in views by name. The build fills this in, so that the published package reads no
 * folder and a bundler can move it. In the sources it is empty, and the kit reads the folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};
