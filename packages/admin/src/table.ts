import type { EndpointDescription } from 'portico';

/**
 * The path of the first administrator's page, below `base_path`. All other administrator's pages
 * are below it.
 */
export const ADMINISTRATION_PATH = '/oauth/admin';

/**
 * The routes of the administrator's pages. They exist only if `oauth_server:admin_permission` is
 * set. Each page accepts only its own forms.
 */
export const ADMINISTRATION_TABLE = [
  { name: 'oauth_server_admin', path: ADMINISTRATION_PATH, methods: ['GET'], forPeople: true },
  {
    name: 'oauth_server_admin_clients',
    path: `${ADMINISTRATION_PATH}/clients`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_client',
    path: `${ADMINISTRATION_PATH}/client`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_rotations',
    path: `${ADMINISTRATION_PATH}/rotations`,
    methods: ['GET'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_keys',
    path: `${ADMINISTRATION_PATH}/keys`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_registration',
    path: `${ADMINISTRATION_PATH}/registration`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_access',
    path: `${ADMINISTRATION_PATH}/access`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_person',
    path: `${ADMINISTRATION_PATH}/person`,
    methods: ['GET', 'POST'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_audit',
    path: `${ADMINISTRATION_PATH}/audit`,
    methods: ['GET'],
    forPeople: true,
  },
  {
    name: 'oauth_server_admin_doctor',
    path: `${ADMINISTRATION_PATH}/doctor`,
    methods: ['GET'],
    forPeople: true,
  },
] as const satisfies readonly EndpointDescription[];

export type AdministrationPageName = (typeof ADMINISTRATION_TABLE)[number]['name'];
