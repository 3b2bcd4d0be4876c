import type { Database } from '@portico/sql';
import { DocumentClientRecords } from '../../packages/portico/src/features/client-documents/records.ts';
import { LogoRecords } from '../../packages/portico/src/features/logos/records.ts';
import { RegistrationRecords } from '../../packages/portico/src/features/registration/records.ts';
import { Store as CoreStore, type FeatureRecords } from '../../packages/portico/src/store/store.ts';

/** The store with the records of the features, as a server has it. */
export class Store extends CoreStore implements FeatureRecords {
  readonly documentClients: DocumentClientRecords;
  readonly logos: LogoRecords;
  readonly registrations: RegistrationRecords;

  constructor(database: Database, ...further: AfterFirst<ConstructorParameters<typeof CoreStore>>) {
    super(database, ...further);
    this.documentClients = new DocumentClientRecords(database);
    this.logos = new LogoRecords(database);
    this.registrations = new RegistrationRecords(database);
  }
}

type AfterFirst<All extends readonly unknown[]> = All extends readonly [unknown, ...infer Rest]
  ? Rest
  : never;
