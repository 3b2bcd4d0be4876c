import { describe, expect, test } from 'vitest';
import { Profiles, type OfferedProfile } from './profiles.ts';
import type { ClientMetadata } from './store/client.ts';

const offered = (name: string, more: Partial<OfferedProfile> = {}) =>
  ({
    name,
    isServers: false,
    missing: [],
    clientProblem: () => null,
    registrationProblem: () => null,
    ...more,
  }) as unknown as OfferedProfile;

const client = (profile: string | null, grants: readonly string[] = ['authorization_code']) =>
  ({ profile, grants }) as unknown as ClientMetadata;

describe('the profile of a client', () => {
  const profiles = new Profiles([offered('one'), offered('servers', { isServers: true })]);

  test('is its own, or that of the server', () => {
    expect(profiles.names).toEqual(['one', 'servers']);
    expect([
      profiles.of(client('one'))?.name,
      profiles.of(client(null))?.name,
      profiles.of(client(null, ['introspection', 'refresh_token']))?.name,
      profiles.of(client('one', ['introspection']))?.name,
      profiles.servers?.name,
    ]).toEqual(['one', 'servers', 'servers', 'one', 'servers']);
  });

  test('is not that of the server if the client only asks about tokens', () => {
    expect(profiles.of(client(null, ['introspection']))).toBeNull();
    expect(profiles.refusal(client(null, ['introspection']))).toBeNull();
  });

  test('does not exist without one', () => {
    const none = new Profiles([offered('one')]);
    expect([
      none.servers,
      none.of(client(null)),
      none.refusal(client(null)),
      none.named(null),
    ]).toEqual([null, null, null, null]);
    expect(() => none.requireRegistrable(client(null))).not.toThrow();
    expect(none.named('one')?.name).toBe('one');
  });

  test('allows nothing if it is unknown', () => {
    const problem = 'its profile is unknown on this server';
    expect(profiles.named('other')).toMatchObject({
      name: '',
      algorithms: [],
      authenticationMethods: [],
      longestCode: 0,
      redirectStatus: 303,
      refreshTokensStay: true,
      missingVerifierIsWrong: true,
      onlyIssuerIsAudience: true,
      leastAhead: 0,
      longestAhead: 0,
    });
    expect(profiles.refusal(client('other'))).toBe(problem);
    expect(profiles.named('other')?.clientProblem(client('other'))).toBe(problem);
    expect(() => profiles.requireRegistrable(client('other'))).toThrow(
      `The profile  does not allow this client: ${problem}`,
    );
  });
});

describe('a client is refused', () => {
  test('while settings that its profile needs are off', () => {
    const profiles = new Profiles([offered('one', { missing: ['dpop', 'private_key_jwt'] })]);
    expect(profiles.refusal(client('one'))).toBe(
      'it has the profile one, which requires dpop, private_key_jwt',
    );
    expect(() => profiles.requireRegistrable(client('one'))).toThrow(
      'The profile one needs settings that are off: dpop, private_key_jwt; turn them on first',
    );
  });

  test('if its profile does not allow it', () => {
    const profiles = new Profiles([
      offered('one', {
        clientProblem: () => 'it has no keys',
        registrationProblem: () => 'it is public',
      }),
      offered('two'),
    ]);
    expect(profiles.refusal(client('one'))).toBe(
      'it has no keys, which the profile one does not allow',
    );
    expect(() => profiles.requireRegistrable(client('one'))).toThrow(
      'The profile one does not allow this client: it is public',
    );
    expect(profiles.refusal(client('two'))).toBeNull();
    expect(() => profiles.requireRegistrable(client('two'))).not.toThrow();
  });
});
