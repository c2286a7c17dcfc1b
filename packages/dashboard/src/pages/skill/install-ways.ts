import { toMarketplaceName } from '@skillstead/protocol'

/** The version of a skill that the commands install, and the node that it comes from. */
export interface Installed {
  /** The URL of the node, without a trailing slash. */
  readonly origin: string
  /** `owner/name`. */
  readonly name: string
  readonly version: string
  /** Whether everyone may read the skill without an API key. */
  readonly isPublic: boolean
  /** Whether the scan verdict is dangerous: our own installer then needs `--allow-dangerous`. */
  readonly isDangerous: boolean
  /** The token of the share link that the reader opened. */
  readonly shareToken?: string | undefined
}

interface InstallWay {
  readonly hint: string
  /** Commands for a shell, or text for a file. */
  readonly text: string
}

/** An agent or a program, with the ways in which it installs the skill; the first way is the recommended one. */
export interface Installer {
  readonly id: string
  readonly title: string
  readonly ways: readonly InstallWay[]
}

/**
 * How each agent and program installs a version. Names contain only letters, digits and hyphens, so they need no
 * quoting. The commands for a skill that is not public take an API key from `SKILLSTEAD_KEY`.
 */
export function listInstallers(skill: Installed): Installer[] {
  const forAgent = (agent: string, hint: string) => [
    ...(needsKey(skill) ? [] : [toSkillsInstaller(skill, ` --agent ${agent}`)]),
    { hint, text: toInstallCommand(skill, ` --agent ${agent}`) },
  ]
  const claudeHint = 'Into .claude/skills of your project; with --global into that of your account.'
  const projectHint = 'Into .agents/skills of your project.'
  const first = needsKey(skill) ? toZip(skill) : toSkillsInstaller(skill)
  const installers: readonly (readonly [id: string, title: string, ways: readonly InstallWay[]])[] = [
    ['any', 'Any agent', [first, { hint: anyHint, text: toInstallCommand(skill) }]],
    ['claude-code', 'Claude Code', [...forAgent('claude-code', claudeHint), ...toMarketplaces(skill, 'claude')]],
    ['codex', 'Codex', [...forAgent('codex', projectHint), ...toMarketplaces(skill, 'codex')]],
    ['cursor', 'Cursor', forAgent('cursor', projectHint)],
    ['copilot', 'Copilot', forAgent('github-copilot', 'For the command line and for VS Code.')],
    ['gemini', 'Gemini CLI', forAgent('gemini-cli', projectHint)],
    ['openclaw', 'OpenClaw', [...forAgent('openclaw', 'Into skills of your workspace.'), toClawhub(skill)]],
    ['skills', 'npx skills', [toSkillsInstaller(skill)]],
    ['git', 'git', [toGitWay(skill)]],
    ['npm', 'npm', [toNpm(skill)]],
    ['zip', 'zip', [toZip(skill)]],
    ['mcp', 'MCP', [toMcp(skill)]],
    ['program', 'In a program', [toProgramWay(skill)]],
  ]
  return installers.map(([id, title, ways]) => ({ id, title, ways }))
}

const needsKey = ({ isPublic, shareToken }: Installed): boolean => !isPublic && shareToken === undefined

const bearer = '"Authorization: Bearer $SKILLSTEAD_KEY"'
const anyHint =
  'Into .agents/skills of your project, which most agents read. Verifies the digest and records it in skills.lock.'

/** The command of our own CLI, for the folder that most agents read. */
const toInstallCommand = ({ origin, name, version, isDangerous }: Installed, rest = ''): string =>
  `skillstead install ${name}@${version}${rest}${isDangerous ? ' --allow-dangerous' : ''} --url ${origin}`

/** The commands for a marketplace, which contains only public skills in their latest versions. */
function toMarketplaces({ origin, name, isPublic }: Installed, program: 'claude' | 'codex'): InstallWay[] {
  if (!isPublic) return []
  const [owner, skill] = name.split('/')
  const hint = 'As a plugin from the marketplace of this owner, always in its latest version.'
  const install = program === 'claude' ? 'install' : 'add'
  const text = `${program} plugin marketplace add ${origin}/git/${owner}.git\n${program} plugin ${install} ${skill}@${toMarketplaceName(owner!)}`
  return [{ hint, text }]
}

function toClawhub({ origin, name, version, isPublic }: Installed): InstallWay {
  // The program clawhub looks for the discovery document at the root of the host only.
  const isRoot = URL.parse(origin)?.pathname === '/'
  const site = `${isRoot ? `CLAWHUB_SITE=${origin}` : `CLAWHUB_REGISTRY=${origin}/clawhub`} clawhub`
  const login = isPublic ? '' : `${site} login --token "$SKILLSTEAD_KEY"\n`
  return { hint: 'With the program clawhub.', text: `${login}${site} install ${name} --version ${version}` }
}

function toSkillsInstaller({ origin, name, version, isPublic, shareToken }: Installed, rest = ''): InstallWay {
  if (!isPublic && shareToken !== undefined) {
    const hint = 'A common installer for many agents. Your share link is the key; it always has the latest version.'
    return { hint, text: `npx skills add ${origin}/t/${shareToken}${rest}` }
  }
  if (isPublic) {
    const hint = 'A common installer for many agents; this address stays at this version.'
    return { hint, text: `npx skills add ${origin}/${name}@${version}${rest}` }
  }
  return {
    hint: 'A common installer for many agents. Git sends the key; without one, use a share link from the owner.',
    text: [
      `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.${origin}/.extraHeader`,
      'export GIT_CONFIG_VALUE_0="Authorization: Bearer $SKILLSTEAD_KEY"',
      `npx skills add ${origin}/git/${name}.git#v${version}`,
    ].join('\n'),
  }
}

function toGitWay({ origin, name, version, isPublic }: Installed): InstallWay {
  const header = isPublic ? '' : ` -c http.extraHeader=${bearer}`
  const folder = `.agents/skills/${toShort(name)}`
  return {
    hint: isPublic ? 'The whole history without --depth 1.' : 'Without the header git asks for a password: an API key.',
    text: `git${header} clone --depth 1 --branch v${version} ${origin}/git/${name}.git ${folder}`,
  }
}

function toNpm({ origin, name, version, isPublic }: Installed): InstallWay {
  const scope = name.slice(0, name.indexOf('/'))
  const registry = `${origin}/npm/`
  const key = isPublic ? '' : ` "--${registry.replace(/^https?:/, '')}:_authToken=$SKILLSTEAD_KEY"`
  return {
    hint: 'For programs that look for skills in node_modules. pnpm add takes the same arguments.',
    text: `npm install @${name}@${version} --@${scope}:registry=${registry}${key}`,
  }
}

function toZip({ origin, name, version, isPublic, shareToken }: Installed): InstallWay {
  const short = toShort(name)
  const folder = `.agents/skills/${short}`
  const header = shareToken === undefined ? bearer : `'X-Share-Token: ${shareToken}'`
  const key = isPublic ? '' : ` -H ${header}`
  const archive = `${origin}/api/v1/skills/${encodeURIComponent(name)}/archive?version=${version}`
  return {
    hint: 'Always the same bytes.',
    text: `curl -fL${key} -o ${short}.zip '${archive}'\nmkdir -p ${folder}\nunzip ${short}.zip -d ${folder}`,
  }
}

const toMcp = ({ origin, isPublic }: Installed): InstallWay => ({
  hint: 'Connect once, here Claude Code. The agent can then search this node and load the skill on request.',
  text: `claude mcp add --transport http skillstead ${origin}/mcp${isPublic ? '' : ` --header ${bearer}`}`,
})

const toProgramWay = ({ origin, name, version, isPublic }: Installed): InstallWay => ({
  hint: 'With the package @skillstead/client; maxTokens limits its size in the context.',
  text: [
    "import { createSkillClient } from '@skillstead/client'",
    '',
    `const skills = createSkillClient({ baseUrl: '${origin}'${isPublic ? '' : ', apiKey: process.env.SKILLSTEAD_KEY'} })`,
    `const skill = await skills.load('${name}', { version: '${version}', maxTokens: 2000 })`,
  ].join('\n'),
})

const toShort = (name: string): string => name.slice(name.indexOf('/') + 1)
