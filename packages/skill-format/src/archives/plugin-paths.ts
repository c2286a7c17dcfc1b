import { toFoldedPath } from './file-paths.ts'

/**
 * Paths below the root of a plugin that Claude Code starts, loads or puts on the PATH by itself (Plugins reference,
 * "Plugin components reference"), and `mcp.json`, which clients of Agent Plugins load. In a skill that is not a plugin,
 * these paths are ordinary files.
 */
const pluginPaths =
  /^(?:(?:\.claude-plugin|\.codex-plugin|bin|hooks|monitors|output-styles)\/|(?:agents|commands)\/.*\.md$|(?:\.?mcp|\.lsp|settings)\.json$)/s

/** Whether a plugin with the folder of these files as its root would run or configure more than a skill. */
export function isPluginRoot(paths: readonly string[]): boolean {
  return paths.some((path) => pluginPaths.test(toFoldedPath(path)))
}

/**
 * Names that no folder of a skill below `skills/` gets. Codex takes `skills/` for the root of a plugin, and would start
 * programs from folders with these names.
 */
const pluginFolders = ['agents', 'bin', 'commands', 'hooks', 'monitors', 'output-styles']

/**
 * Returns a function that chooses the folder of a skill below `skills/`: the name of the skill, or `<owner>-<name>` if
 * the name is taken.
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
