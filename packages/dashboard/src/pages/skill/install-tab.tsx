import { Copyable, Empty } from '../../ui/parts.tsx'
import { type ShownSkill, toShortName } from './shown-skill.ts'

/** Install commands for common programs. */
export function InstallTab({ shown }: { shown: ShownSkill }) {
  if (!shown.version) return <Empty>There is no version to install.</Empty>
  return (
    <>
      <p>
        These commands install exactly version {shown.version}, from <code>{location.origin}</code>.
      </p>
      <p class="hint">
        Without an installed <code>skillstead</code>, write <code>npx skillstead</code>; in a clone of the project,{' '}
        <code>./skillstead</code>.
      </p>
      {shown.skill.visibility !== 'public' && (
        <p class="notice plain">
          This skill is {shown.skill.visibility}: log in first with <code>skillstead login</code>. Installers without a
          key need a share link from its owner.
        </p>
      )}
      {listInstallWays(shown).map(({ title, hint, text }) => (
        <section key={title} class="way">
          <h2>{title}</h2>
          <p class="hint">{hint}</p>
          <Copyable text={text} label={`Copy for ${title}`} />
        </section>
      ))}
    </>
  )
}

interface InstallWay {
  readonly title: string
  readonly hint: string
  readonly text: string
}

/** The command of our own CLI, for the folder that most agents read. */
export function toInstallCommand(shown: ShownSkill, rest = ''): string {
  const allowed = shown.skill.security?.verdict === 'dangerous' ? ' --allow-dangerous' : ''
  return `skillstead install ${shown.name}@${shown.version}${rest}${allowed} --url ${location.origin}`
}

/** Ways to install exactly this version. Names contain only letters, digits and hyphens, so they need no quoting. */
function listInstallWays(shown: ShownSkill): InstallWay[] {
  const { skill, name, version } = shown
  const folder = toShortName(skill)
  const isPublic = skill.visibility === 'public'
  const archive = `${location.origin}/api/v1/skills/${encodeURIComponent(name)}/archive?version=${version}`
  const key = isPublic ? '' : ' -H "Authorization: Bearer $SKILLSTEAD_KEY"'
  const mcp = `claude mcp add --transport http skillstead ${location.origin}/mcp`
  return [
    {
      title: 'Most agents',
      hint: 'Installs into .agents/skills of your project, verifies the digest and records it in skills.lock.',
      text: toInstallCommand(shown),
    },
    {
      title: 'Claude Code',
      hint: 'Installs into .claude/skills of your project; with --global into that of your account.',
      text: toInstallCommand(shown, ' --agent claude-code'),
    },
    {
      title: 'Cursor, Windsurf, Copilot and others',
      hint: 'Separate the agents by commas; skillstead install --help lists them.',
      text: toInstallCommand(shown, ' --agent cursor,windsurf,github-copilot'),
    },
    ...(isPublic ? [toSkillsInstaller(shown)] : []),
    {
      title: 'As a zip',
      hint: isPublic
        ? 'Always the same bytes. It unpacks into a folder with the name of the skill.'
        : 'Always the same bytes. Set SKILLSTEAD_KEY to your API key first.',
      text: `curl -fL${key} -o ${folder}.zip '${archive}'\nunzip ${folder}.zip -d .agents/skills/${folder}`,
    },
    {
      title: 'Without installing, over the Model Context Protocol',
      hint: 'Connect once. The agent can then search this node and load the skill on request.',
      text: isPublic ? mcp : `${mcp} --header "Authorization: Bearer $SKILLSTEAD_KEY"`,
    },
    {
      title: 'In a program',
      hint: 'With the package @skillstead/client; maxTokens limits its size in the context.',
      text: toProgram(shown, isPublic),
    },
  ]
}

function toSkillsInstaller({ name, version }: ShownSkill): InstallWay {
  return {
    title: 'npx skills',
    hint: 'A common installer; this address stays at this version.',
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
