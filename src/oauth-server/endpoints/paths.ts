/** Where people come in their browsers. */
export const AUTHORIZE_PATH = '/oauth/authorize';
export const APPLICATIONS_PATH = '/oauth/applications';
