/**
 * What a read of a skill's content counts as, by the kind of client that sends it. An install also counts as a download,
 * and for trending. Protocols of installers are read by programs that install; the API and MCP also by programs and
 * agents that only look at a skill. The gateways are named as in `@skillstead/gateways`.
 */
export const countedAs = {
  /** The API, for programs that send `X-Skillstead-Install: 1`: our command line. */
  cli: 'install',
  /** All other reads by the API, and calls inside the process. */
  api: 'download',
  /** A page that a browser opens, whatever its protocol. */
  browser: 'download',
  /** A clone of a skill's repository, or a fetch of a new version. */
  git: 'install',
  /** The download of a package's tarball. */
  npm: 'install',
  /** The download of an artifact's layer. */
  oci: 'install',
  /** The download of a package. */
  apm: 'install',
  /** The download of an archive by `clawhub install` and `clawhub update`. */
  clawhub: 'install',
  /** An archive or SKILL.md of an index, unless the client has just read a list of several skills to show them. */
  discovery: 'install',
  /** An archive that a marketplace links. Its repositories count as git. */
  marketplaces: 'install',
  /** A skill that an agent loads. */
  mcp: 'download',
} as const

/** A kind of client; see {@link countedAs}. */
export type ClientKind = keyof typeof countedAs
