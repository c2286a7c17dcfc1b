import { type SkillDetails, findClientProblems, skillClients } from '@skillstead/protocol'
import { addresses, toAddress, nodeUrl } from '../../addresses.ts'
import { DownloadChart } from '../../ui/lazy-components.tsx'
import { NameLink, Terms, Time, toBytesText, toCount, Copyable } from '../../ui/parts.tsx'
import { toTab, type ShownSkill, toShortName } from './shown-skill.ts'
import { useState } from 'preact/hooks'
import { site } from '../../site.ts'
import { Picture } from '../../ui/own-files.tsx'
import { VersionLink } from '../../ui/skill-list.tsx'

/** The facts of a skill next to each of its tabs. */
export function FactsColumn({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  const { license, category } = skill
  const size = `${toBytesText(skill.size)} in ${toCount(skill.files.length, 'file')}`
  const related = toTab(shown, 'similar')
  return (
    <>
      <Terms
        of={[
          ['Version', shown.version || 'none'],
          ['Published', shown.version ? <Time at={skill.publishedAt} /> : null],
          ['Licence', license ? <NameLink href={toAddress('/', { license })} name={license} /> : 'none stated'],
          ['Category', category ? <NameLink href={toAddress('/', { category })} name={category} /> : null],
          ['Size', <a href={toTab(shown, 'files')}>{size}</a>],
          ['Forks', <a href={related}>{skill.forks.toLocaleString('en')}</a>],
          ['Used by', skill.dependents > 0 ? <a href={related}>{toCount(skill.dependents, 'skill')}</a> : null],
          ['Repository', /^https?:\/\//i.test(skill.repository) ? <Repository url={skill.repository} /> : null],
          ['Forked from', skill.forkedFrom && <VersionLink {...skill.forkedFrom} />],
          ['Origin', skill.origin.kind === 'local' ? null : <Origin of={skill.origin} />],
        ]}
      />
      <Words title="Requires" of={toRequired(skill.requires)} />
      <h2>Cost in tokens</h2>
      <Terms of={toTokenCosts(skill)} />
      <ClientList skill={skill} />
      <Words title="Keywords" of={skill.keywords.map((keyword) => [keyword, toAddress('/', { keyword })])} />
      <Words title="Capabilities" of={skill.capabilities.slice(0, 30).map((one) => [one])} />
      <BadgeCode skill={skill} />
      <h2>Downloads</h2>
      <DownloadChart name={shown.name} toTitle={(total) => `${total.toLocaleString('en')} in the last 30 days`} />
    </>
  )
}

type Word = readonly [text: string, href?: string]

/** What the version requires. A skill's name without an owner leads to a search, because it may mean several skills. */
function toRequired({ skills, commands, mcpServers, env }: SkillDetails['requires']): Word[] {
  const others = [...commands, ...mcpServers.map((name) => `${name} (MCP server)`), ...env.map((name) => `$${name}`)]
  return [
    ...skills.map(({ name, range, optional }): Word => {
      const words = [name, range === '*' ? '' : ` ${range}`, optional ? ' (optional)' : '']
      return [words.join(''), name.includes('/') ? addresses.skill(name) : toAddress('/', { q: name })]
    }),
    ...others.map((text): Word => [text]),
  ]
}

const encoder = new TextEncoder()

/** About how much of a model's context each level of loading takes, at one token per four bytes. */
function toTokenCosts({ name, description, summary, files }: SkillDetails) {
  const metadataBytes = encoder.encode(name + description).length
  const summaryBytes = metadataBytes + encoder.encode(summary).length
  const fullBytes = files.find(({ path }) => path === 'SKILL.md')?.size
  const levels = { Metadata: metadataBytes, ...(fullBytes !== undefined && { Summary: summaryBytes, Full: fullBytes }) }
  return Object.entries(levels).map(
    ([level, bytes]) => [level, `about ${Math.ceil(bytes / 4).toLocaleString('en')}`] as const,
  )
}

/** The registry from which this node copied the skill. */
export const Origin = ({ of: { kind, upstream, syncedAt } }: { of: SkillDetails['origin'] }) => (
  <>
    {kind === 'mirror' ? 'Mirrored' : 'Imported'} from <bdi>{upstream ?? 'elsewhere'}</bdi>
    {syncedAt && (
      <>
        , <Time at={syncedAt} />
      </>
    )}
  </>
)

function Words({ title, of }: { title: string; of: readonly Word[] }) {
  if (of.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="words">
        {of.map(([text, href]) => (
          <li key={text}>{href === undefined ? <bdi>{text}</bdi> : <NameLink href={href} name={text} />}</li>
        ))}
      </ul>
    </>
  )
}

const Repository = ({ url }: { url: string }) => (
  <a href={url} rel="noopener noreferrer nofollow ugc" target="_blank">
    <bdi>{url.replace(/^https?:\/\//i, '')}</bdi>
  </a>
)

/** The clients that do not load the skill, or cut it, because of its frontmatter. */
function ClientList({ skill }: { skill: SkillDetails }) {
  const found = skillClients.flatMap((client) => {
    const { problems } = findClientProblems({ frontmatter: skill.frontmatter }, client, toShortName(skill))
    return problems.length > 0 ? [[client.title, problems.join('; ')] as const] : []
  })
  return (
    <>
      <h2>Who loads it</h2>
      {found.length === 0 ? (
        <p>All known clients load it.</p>
      ) : (
        <ul class="client-list">
          {found.map(([title, problems]) => (
            <li key={title}>
              <strong>{title}</strong> {problems}
            </li>
          ))}
        </ul>
      )}
      <p class="hint">
        By the name, description and keys of its frontmatter. <code>skillstead lint --client</code> also reads its YAML.
      </p>
    </>
  )
}

/** The badge of a public skill, with Markdown to embed it. */
function BadgeCode({ skill: { fullName, visibility } }: { skill: SkillDetails }) {
  const [isOpen, setOpen] = useState(false)
  // Pages elsewhere cannot load a picture of a private node.
  if (visibility !== 'public' || site.isPrivate) return null
  const path = `/badge/${fullName}.svg`
  const page = `${nodeUrl}${addresses.skill(fullName)}`
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Badge for a README</summary>
      {isOpen && <Picture path={path} alt={`Badge of ${fullName}`} height={20} />}
      <Copyable text={`[![${fullName}](${nodeUrl}${path})](${page})`} />
    </details>
  )
}
