import { toShortName, type ShownSkill } from './shown-skill.ts'

interface InstallWay {
  readonly title: string
  readonly hint: string
  readonly text: string
}

/** By our own command, for the folder that most agents read. */
export function toInstallCommand(shown: ShownSkill, rest = ''): string {
  const allowed = shown.skill.security?.verdict === 'dangerous' ? ' --allow-dangerous' : ''
  return `skillstead install ${shown.name}@${shown.version}${rest}${allowed} --url ${location.origin}`
}

/** How to get this very version with what people have; all names in it are letters, digits and hyphens. */
export function listInstallWays(shown: ShownSkill): InstallWay[] {
  const { skill, name, version } = shown
  const folder = toShortName(skill)
  const isPublic = skill.visibility === 'public'
  const archive = `${location.origin}/api/v1/skills/${encodeURIComponent(name)}/archive?version=${version}`
  const key = isPublic ? '' : ' -H "Authorization: Bearer $SKILLSTEAD_KEY"'
  const mcp = `claude mcp add --transport http skillstead ${location.origin}/mcp`
  return [
    {
      title: 'Most agents',
      hint: 'Into .agents/skills of your project, checked against its digest and noted in skills.lock.',
      text: toInstallCommand(shown),
    },
    {
      title: 'Claude Code',
      hint: 'Into .claude/skills of your project; with --global into your own.',
      text: toInstallCommand(shown, ' --agent claude-code'),
    },
    {
      title: 'Cursor, Windsurf, Copilot and others',
      hint: 'Name the agents with commas between them; skillstead install --help lists them.',
      text: toInstallCommand(shown, ' --agent cursor,windsurf,github-copilot'),
    },
    ...(isPublic ? [toSkillsInstaller(shown)] : []),
    {
      title: 'As a zip',
      hint: isPublic
        ? 'The same bytes every time. It unpacks into a folder of the name of the skill.'
        : 'The same bytes every time. Put your API key into SKILLSTEAD_KEY first.',
      text: `curl -fL${key} -o ${folder}.zip '${archive}'\nunzip ${folder}.zip -d .agents/skills/${folder}`,
    },
    {
      title: 'Without installing, by the Model Context Protocol',
      hint: 'Connect once; then the agent searches this node by itself, and loads the skill when you ask for it.',
      text: isPublic ? mcp : `${mcp} --header "Authorization: Bearer $SKILLSTEAD_KEY"`,
    },
    {
      title: 'In a program',
      hint: 'With the package @skillstead/client; maxTokens bounds what it takes of the context.',
      text: toProgram(shown, isPublic),
    },
  ]
}

function toSkillsInstaller({ name, version }: ShownSkill): InstallWay {
  return {
    title: 'npx skills',
    hint: 'The installer many people have; this address stays at this version.',
    text: `npx skills add ${location.origin}/${name}@${version}`,
  }
}

function toProgram({ name, version }: ShownSkill, isPublic: boolean): string {
  return [
    "import { createSkillClient } from '@skillstead/client'",
    '',
    `const skills = createSkillClient({ baseUrl: '${location.origin}'${isPublic ? '' : ', apiKey'} })`,
    `const skill = await skills.load('${name}', { version: '${version}', maxTokens: 2000 })`,
  ].join('\n')
}
