/** A plugin that adds nothing. It needs only a name. */
export const EMPTY_PLUGIN = {
  defaults: {},
  configuration: {},
  migrations: [],
  views: null,
  commands() {},
  register() {},
};
