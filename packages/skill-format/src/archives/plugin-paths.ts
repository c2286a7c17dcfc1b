import { toFoldedPath } from './file-paths.ts'

/**
 * What Claude Code starts, loads or puts on the PATH by itself if the folder is the root of a plugin (Plugins
 * reference, "Plugin components reference"), and clients of Agent Plugins, which load `mcp.json`. In a skill that is not a plugin, these paths are ordinary files.
 */
const pluginPaths =
  /^(?:(?:\.claude-plugin|\.codex-plugin|bin|hooks|monitors|output-styles)\/|(?:agents|commands)\/.*\.md$|(?:\.?mcp|\.lsp|settings)\.json$)/s

/** Whether a plugin with the folder of these files as its root would run or configure more than a skill. */
export function isPluginRoot(paths: readonly string[]): boolean {
  return paths.some((path) => pluginPaths.test(toFoldedPath(path)))
}

/** For Codex, `skills/` is the root of a plugin: what it starts from these folders must not come from a skill. */
const pluginFolders = ['agents', 'bin', 'commands', 'hooks', 'monitors', 'output-styles']

/**
 * Gives skills the names of their folders below `skills/`. Those of several owners may share a name: the folders of all
 * but the first one start with the owner.
 */
export function createPluginFolders(): (skill: { readonly owner: string; readonly name: string }) => string {
  const taken = new Set<string>(pluginFolders)
  return ({ owner, name }) => {
    let free = name
    if (taken.has(free)) free = `${owner}-${name}`
    while (taken.has(free)) free = `${free}-2`
    taken.add(free)
    return free
  }
}
