/**
 * The built-in views by name, as the build puts them here: what is published reads no folder of its own, so that a bundler may put it
 * anywhere. Empty in the sources, which read the folders.
 */
export const EMBEDDED_VIEWS: Readonly<Record<string, string>> = {};
