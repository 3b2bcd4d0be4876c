import { ADMINISTRATION_PATH } from './table.ts';

/** Where the pages are, as a browser asks for them. */
export interface PageLinks {
  readonly overview: string;
  readonly clients: string;
  readonly rotations: string;
  readonly keys: string;
  readonly registration: string;
  readonly access: string;
  readonly audit: string;
  readonly doctor: string;
  /** Of one client; `about` is added to the query. */
  client(id: string, about?: Readonly<Record<string, string>>): string;
  /** Of one person. */
  person(provider: string, id: string, about?: Readonly<Record<string, string>>): string;
}

export function pageLinks(basePath: string): PageLinks {
  const overview = `${basePath}${ADMINISTRATION_PATH}`;
  return {
    overview,
    clients: `${overview}/clients`,
    rotations: `${overview}/rotations`,
    keys: `${overview}/keys`,
    registration: `${overview}/registration`,
    access: `${overview}/access`,
    audit: `${overview}/audit`,
    doctor: `${overview}/doctor`,
    client: (id, about = {}) => withQuery(`${overview}/client`, { id, ...about }),
    person: (provider, id, about = {}) => withQuery(`${overview}/person`, { provider, id, ...about }),
  };
}

/** Where an application is registered. */
export function registrationLink({ clients }: PageLinks): string {
  return withQuery(clients, { ask: 'register' });
}

/** The address with these parameters, without those that are empty. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query}`;
}
