/** Where the workspace's package.json is stored while the package.json for publication replaces it. */
export const keptManifest = '.package.json.kept'

/** Folders that a package needs from the repository root, and their places in the package. */
export const copiedFolders: Record<string, readonly (readonly [from: string, to: string])[]> = {
  '@skillstead/cli': [
    ['examples/skills', 'examples/skills'],
    ['packages/dashboard/dist', 'dashboard'],
  ],
}

/** The folders of the packages that are published, in the order in which they depend on each other. */
export const publishedFolders = [
  'protocol',
  'skill-format',
  'scanner',
  'client',
  'core',
  'mirror',
  'maintenance',
  'gateways',
  'identity',
  'server',
  'cli',
] as const

/**
 * The field `repository` of published packages: npm accepts a proof of origin only for the repository that a package
 * names. Outside of a GitHub workflow there is no such field.
 */
export function toRepositoryField(): { repository?: object } {
  const { GITHUB_REPOSITORY: repository } = process.env
  return repository ? { repository: { type: 'git', url: `git+https://github.com/${repository}.git` } } : {}
}
