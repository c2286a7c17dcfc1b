/** Where the workspace's package.json is stored while that of the published package replaces it. */
export const keptManifest = '.package.json.kept'

/** Folders that a package needs from the repository root, and their places in the package. */
export const copiedFolders: Record<string, readonly (readonly [from: string, to: string])[]> = {
  skillstead: [
    ['examples/skills', 'examples/skills'],
    ['packages/dashboard/dist', 'dashboard'],
  ],
}
