import type { AdministrationPageName } from '../table.ts';
import type { Page } from '../page.ts';
import { access } from './access.ts';
import { audit } from './audit.ts';
import { client } from './client.ts';
import { clients } from './clients.ts';
import { doctor } from './doctor.ts';
import { keys } from './keys.ts';
import { overview } from './overview.ts';
import { person } from './person.ts';
import { registration } from './registration.ts';
import { rotations } from './rotations.ts';

/** The administrator's pages by route name. */
export const PAGES: Readonly<Record<AdministrationPageName, Page>> = {
  oauth_server_admin: overview,
  oauth_server_admin_clients: clients,
  oauth_server_admin_client: client,
  oauth_server_admin_rotations: rotations,
  oauth_server_admin_keys: keys,
  oauth_server_admin_registration: registration,
  oauth_server_admin_access: access,
  oauth_server_admin_person: person,
  oauth_server_admin_audit: audit,
  oauth_server_admin_doctor: doctor,
};
