import { type SkillDetails, findClientProblems, skillClients } from '@skillstead/protocol'
import { addresses, toAddress, nodeUrl } from '../../addresses.ts'
import { DownloadChart } from '../../ui/lazy-components.tsx'
import { NameLink, Terms, Time, toBytesText, toCount, Copyable } from '../../ui/parts.tsx'
import { toTab, type ShownSkill, toShortName } from './shown-skill.ts'
import { useState } from 'preact/hooks'
import { site } from '../../site.ts'
import { Picture } from '../../ui/own-files.tsx'

/** The facts of a skill next to each of its tabs. */
export function FactsColumn({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  return (
    <>
      <Terms
        of={[
          ['Version', shown.version || 'none'],
          ['Published', shown.version ? <Time at={skill.publishedAt} /> : null],
          [
            'Licence',
            skill.license ? (
              <NameLink href={toAddress('/', { license: skill.license })} name={skill.license} />
            ) : (
              'none stated'
            ),
          ],
          [
            'Category',
            skill.category ? (
              <NameLink href={toAddress('/', { category: skill.category })} name={skill.category} />
            ) : null,
          ],
          [
            'Size',
            <a
              href={toTab(shown, 'files')}
            >{`${toBytesText(skill.size)} in ${toCount(skill.files.length, 'file')}`}</a>,
          ],
          ['Forks', <a href={toTab(shown, 'similar')}>{skill.forks.toLocaleString('en')}</a>],
          [
            'Used by',
            skill.dependents > 0 ? <a href={toTab(shown, 'similar')}>{toCount(skill.dependents, 'skill')}</a> : null,
          ],
          ['Repository', /^https?:\/\//i.test(skill.repository) ? <Repository url={skill.repository} /> : null],
          [
            'Forked from',
            skill.forkedFrom && (
              <NameLink
                href={addresses.skill(skill.forkedFrom.fullName)}
                name={`${skill.forkedFrom.fullName} ${skill.forkedFrom.version}`}
              />
            ),
          ],
          ['Origin', skill.origin.kind === 'local' ? null : <Origin of={skill.origin} />],
        ]}
      />
      <Words title="Requires" of={toRequired(skill.requires)} />
      <h2>Cost in tokens</h2>
      <TokenCosts shown={shown} />
      <ClientList shown={shown} />
      <Words title="Keywords" of={skill.keywords.map((keyword) => [keyword, toAddress('/', { keyword })])} />
      <Words title="Capabilities" of={skill.capabilities.slice(0, 30).map((one) => [one])} />
      <BadgeCode shown={shown} />
      <h2>Downloads</h2>
      <DownloadChart name={shown.name} toTitle={(total) => `${total.toLocaleString('en')} in the last 30 days`} />
    </>
  )
}

type Word = readonly [text: string, href?: string]

/** What the version requires. A name without an owner leads to a search: whose skill it means depends on its owner. */
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
function TokenCosts({ shown: { skill } }: { shown: ShownSkill }) {
  const metadataBytes = encoder.encode(`${skill.name}${skill.description}`).length
  const summaryBytes = metadataBytes + encoder.encode(skill.summary).length
  const fullBytes = skill.files.find(({ path }) => path === 'SKILL.md')?.size
  return (
    <Terms
      of={[
        ['Metadata', toTokens(metadataBytes)],
        ['Summary', fullBytes === undefined ? null : toTokens(summaryBytes)],
        ['Full', fullBytes === undefined ? null : toTokens(fullBytes)],
      ]}
    />
  )
}

function toTokens(bytes: number): string {
  return `about ${Math.ceil(bytes / 4).toLocaleString('en')}`
}

/** The registry from which this node copied the skill. */
export function Origin({ of: { kind, upstream, syncedAt } }: { of: SkillDetails['origin'] }) {
  return (
    <>
      {kind === 'mirror' ? 'Mirrored' : 'Imported'} from <bdi>{upstream ?? 'elsewhere'}</bdi>
      {syncedAt && (
        <>
          , <Time at={syncedAt} />
        </>
      )}
    </>
  )
}

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

function Repository({ url }: { url: string }) {
  return (
    <a href={url} rel="noopener noreferrer nofollow ugc" target="_blank">
      <bdi>{url.replace(/^https?:\/\//i, '')}</bdi>
    </a>
  )
}

/** The clients that do not load the skill or cut it, by its frontmatter. */
function ClientList({ shown: { skill } }: { shown: ShownSkill }) {
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
function BadgeCode({ shown: { skill } }: { shown: ShownSkill }) {
  const [isOpen, setOpen] = useState(false)
  // Pages elsewhere cannot load a picture of a private node.
  if (skill.visibility !== 'public' || site.isPrivate) return null
  const path = `/badge/${skill.fullName}.svg`
  const page = `${nodeUrl}${addresses.skill(skill.fullName)}`
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Badge for a README</summary>
      {isOpen && <Picture path={path} alt={`Badge of ${skill.fullName}`} height={20} />}
      <Copyable text={`[![${skill.fullName}](${nodeUrl}${path})](${page})`} />
    </details>
  )
}
