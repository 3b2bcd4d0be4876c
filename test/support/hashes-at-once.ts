import crypto from 'node:crypto';

/** Runs work that hashes secrets. Returns how many hashes ran at the same time at most. */
export async function countHashesAtOnce(work: () => Promise<unknown>): Promise<number> {
  const { argon2 } = crypto;
  let [running, most] = [0, 0];
  crypto.argon2 = (_, { tagLength }, done) => {
    running += 1;
    most = Math.max(most, running);
    setImmediate(() => {
      running -= 1;
      done(null, Buffer.alloc(tagLength));
    });
  };
  try {
    await work();
  } finally {
    crypto.argon2 = argon2;
  }
  return most;
}
