import type { AddCommands } from '../../application/console-context.ts';
import { addAuthorizationList } from './authorization-list.ts';
import { addAuthorizationRevoke } from './authorization-revoke.ts';
import { addClientCreate, type ClientChoices } from './client-create.ts';
import { addClientList } from './client-list.ts';
import { addClientShow } from './client-show.ts';
import { addClientUpdate } from './client-update.ts';
import { addClientRevoke } from './client-revoke.ts';
import { addClientUnblock } from './client-unblock.ts';
import { addClientRotateSecret } from './client-rotate-secret.ts';
import { addKeysGenerate } from './keys-generate.ts';
import { addKeysList } from './keys-list.ts';
import { addKeysPrune } from './keys-prune.ts';
import { addPersonErase } from './person-erase.ts';
import { addPersonRevoke } from './person-revoke.ts';
import { addKeysRotate } from './keys-rotate.ts';
import { addOutbox } from './outbox.ts';
import { addPrune } from './prune.ts';
import { addRestored } from './restored.ts';
import { addServerDoctor } from './server-doctor.ts';
import { addServerSetup } from './server-setup.ts';

const commandsOf = (choices: ClientChoices): readonly AddCommands[] => [
  addServerSetup,
  addServerDoctor,
  addClientCreate(choices),
  addClientList(choices),
  addClientShow(choices),
  addClientUpdate(choices),
  addClientRotateSecret,
  addClientRevoke,
  addClientUnblock,
  addAuthorizationList,
  addAuthorizationRevoke,
  addPersonRevoke,
  addPersonErase,
  addRestored,
  addKeysGenerate(choices),
  addKeysList,
  addKeysRotate(choices),
  addKeysPrune,
  addPrune,
  addOutbox,
];

/** A separate file, so an application that only serves requests does not load the commands. */
export function addServerCommands(choices: ClientChoices): AddCommands {
  return (program, context) => {
    for (const add of commandsOf(choices)) add(program, context);
  };
}
