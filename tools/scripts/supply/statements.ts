// The statements that a release publishes next to the package: its checksums and its provenance.
import { createHash } from 'node:crypto';

export type Algorithm = 'sha256' | 'sha512';

export const digestOf = (algorithm: Algorithm, content: Uint8Array | string): string =>
  createHash(algorithm).update(content).digest('hex');

/** Returns checksums in the format of sha256sum and sha512sum, which can check them with `-c`. */
export function sums(
  algorithm: Algorithm,
  files: ReadonlyMap<string, Uint8Array | string>,
): string {
  const lines = [...files].map(([name, content]) => `${digestOf(algorithm, content)}  ${name}\n`);
  return lines.join('');
}

export interface Origin {
  readonly commit: string;
  readonly tag: string;
  /** The address of the repository, if package.json contains it. */
  readonly repository: string | null;
  /** The content of package-lock.json. */
  readonly lock: string;
  readonly npm: string;
  /** The environment variables of GitHub's runner. Empty on other machines. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the provenance in the formats in-toto (Statement v1) and SLSA (Provenance v1). It is not
 * signed. npm signs a separate one when a workflow publishes with `--provenance`.
 */
export function provenanceOf(
  files: ReadonlyMap<string, Uint8Array | string>,
  origin: Origin,
): object {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: name,
    GITHUB_RUN_ID: id,
  } = origin.environment;
  const isRunner = server !== undefined && name !== undefined && id !== undefined;
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([file, content]) => ({
      name: file,
      digest: { sha256: digestOf('sha256', content), sha512: digestOf('sha512', content) },
    })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:portico:build:npm-pack:1',
        externalParameters: { tag: origin.tag },
        internalParameters: {
          node: process.version,
          npm: origin.npm,
          platform: `${process.platform}-${process.arch}`,
        },
        resolvedDependencies: [
          {
            uri: `git+${origin.repository ?? 'urn:portico'}@refs/tags/${origin.tag}`,
            digest: { gitCommit: origin.commit },
          },
          { uri: 'package-lock.json', digest: { sha256: digestOf('sha256', origin.lock) } },
        ],
      },
      runDetails: {
        builder: {
          id: isRunner ? 'https://github.com/actions/runner' : 'urn:portico:builder:unattested',
        },
        ...(isRunner ? { metadata: { invocationId: `${server}/${name}/actions/runs/${id}` } } : {}),
      },
    },
  };
}
