import { join } from 'node:path'
import { UsageError } from '../command/command.ts'
import { homeFolder } from '../files/config.ts'
import type { Environment } from '../terminal/io.ts'

/** The folders of skills of an agent: in a project, and for a user account. */
interface AgentFolders {
  readonly project: string
  /** Relative to the home folder, or to the folder that a variable names. */
  readonly user: string
}

/** The folder that most agents share (agentskills.io). */
const shared = '.agents/skills'

/** The supported agents, under the names that other installers use. */
const agents: Readonly<Record<string, AgentFolders>> = {
  universal: { project: shared, user: shared },
  augment: toDotFolders('.augment'),
  'claude-code': { project: '.claude/skills', user: '$CLAUDE_CONFIG_DIR/skills' },
  codex: { project: shared, user: shared },
  continue: toDotFolders('.continue'),
  crush: { project: '.crush/skills', user: '$XDG_CONFIG_HOME/crush/skills' },
  cursor: { project: shared, user: '.cursor/skills' },
  'gemini-cli': { project: shared, user: '.gemini/skills' },
  'github-copilot': { project: shared, user: '.copilot/skills' },
  goose: { project: '.goose/skills', user: '$XDG_CONFIG_HOME/goose/skills' },
  junie: toDotFolders('.junie'),
  'kiro-cli': toDotFolders('.kiro'),
  openclaw: { project: 'skills', user: '.openclaw/skills' },
  opencode: { project: shared, user: '$XDG_CONFIG_HOME/opencode/skills' },
  openhands: toDotFolders('.openhands'),
  'qwen-code': toDotFolders('.qwen'),
  roo: toDotFolders('.roo'),
  trae: toDotFolders('.trae'),
  windsurf: { project: '.windsurf/skills', user: '.codeium/windsurf/skills' },
}

/** Default values of the variables, relative to the home folder. */
const homes: Readonly<Record<string, string>> = { CLAUDE_CONFIG_DIR: '.claude', XDG_CONFIG_HOME: '.config' }

/** The folders of skills of agents, without duplicates. Throws {@link UsageError} that lists the agents. */
export function toAgentFolders(names: readonly string[], isGlobal: boolean, env: Environment): string[] {
  const folders = names.map((name) => {
    const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
    if (!agent)
      throw new UsageError(`'${name}' is not a known agent. Use one of ${Object.keys(agents).join(', ')}, or --dir.`)
    return isGlobal ? toUserFolder(agent.user, env) : agent.project
  })
  return [...new Set(folders)]
}

/** The folders of all supported agents. */
export function listAgentFolders(isGlobal: boolean, env: Environment): string[] {
  return toAgentFolders(Object.keys(agents), isGlobal, env)
}

function toUserFolder(folder: string, env: Environment): string {
  const [, variable, rest] = /^\$(\w+)\/(.+)$/.exec(folder) ?? []
  if (variable === undefined || rest === undefined) return join(homeFolder(env), folder)
  return join(env[variable] || join(homeFolder(env), homes[variable]!), rest)
}

function toDotFolders(folder: string): AgentFolders {
  return { project: `${folder}/skills`, user: `${folder}/skills` }
}
