import { ADA, ALICE, GRACE, PASSWORD } from '../world.ts';
import { A_ROW, but, BYTES, hex, post, random, SAME_WAY, type Row } from './row.ts';

type Credentials = () => readonly [identifier: string, password: string];

function ofSignIns(
  name: string,
  classes: readonly [string, string],
  offered: readonly [Credentials, Credentials],
): Row {
  return {
    name: `Sign-in, ${name}`,
    classes,
    must: ['argon2'],
    ...(classes === BYTES ? SAME_WAY : A_ROW),
    async prepare(world) {
      const request = (which: Credentials) => () => {
        const [identifier, password] = which();
        return post(world, '/login', { identifier, password }, { 'Sec-Fetch-Site': 'same-origin' });
      };
      return { requests: [request(offered[0]), request(offered[1])], status: 401 };
    },
  };
}

// As long as Ada's address, because the page shows it again.
const unknown = () => `${hex().slice(0, 3)}@example.com`;
export const SIGN_INS: readonly Row[] = [
  ofSignIns(
    'account',
    ['a wrong password', 'an unknown account'],
    [() => [ADA, random()], () => [unknown(), random()]],
  ),
  ofSignIns(
    'suspended account',
    ['its right password', 'a wrong password of another account'],
    [() => [GRACE, PASSWORD], () => [ALICE, random(5)]],
  ),
  ofSignIns('password, by its bytes', BYTES, [
    () => [ADA, but(PASSWORD, 0)],
    () => [ADA, but(PASSWORD, -1)],
  ]),
];
