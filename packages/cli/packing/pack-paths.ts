/** Where the workspace's package.json waits while that of the published package stands in its place. */
export const keptManifest = '.package.json.kept'

/** What a package needs from the root, and where it has it when it is packed. */
export const copiedFolders: Record<string, readonly (readonly [from: string, to: string])[]> = {
  skillstead: [
    ['examples/skills', 'examples/skills'],
    ['packages/dashboard/dist', 'dashboard'],
  ],
}
