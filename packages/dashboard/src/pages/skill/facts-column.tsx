import { addresses, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Chart } from '../../ui/lazy-components.tsx'
import { NameLink, Terms, Time, toBytesText, toCount } from '../../ui/parts.tsx'
import { Shown } from '../../ui/page.tsx'
import { BadgeCode } from './badge-code.tsx'
import { ClientList } from './client-list.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'

/** The facts of a skill next to each of its tabs. */
export function FactsColumn({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  return (
    <>
      <Terms
        class="details"
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
          ['Origin', toOrigin(shown)],
        ]}
      />
      <Required shown={shown} />
      <h2>Cost in tokens</h2>
      <TokenCosts shown={shown} />
      <ClientList shown={shown} />
      <Words title="Keywords" words={skill.keywords} toHref={(keyword) => toAddress('/', { keyword })} />
      <Words title="Capabilities" words={skill.capabilities.slice(0, 30)} />
      <BadgeCode shown={shown} />
      <h2>Downloads</h2>
      <Downloads name={shown.name} />
    </>
  )
}

/** What the version requires. A name without an owner leads to a search: whose skill it means depends on its owner. */
function Required({ shown: { skill } }: { shown: ShownSkill }) {
  const { skills, commands, mcpServers, env } = skill.requires
  const others = [...commands, ...mcpServers.map((name) => `${name} (MCP server)`), ...env.map((name) => `$${name}`)]
  if (skills.length + others.length === 0) return null
  return (
    <>
      <h2>Requires</h2>
      <ul class="words">
        {skills.map(({ name, range, optional }) => (
          <li key={name}>
            <NameLink href={name.includes('/') ? addresses.skill(name) : toAddress('/', { q: name })} name={name} />
            {range !== '*' && ` ${range}`}
            {optional && ' (optional)'}
          </li>
        ))}
        {others.map((name) => (
          <li key={name}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </>
  )
}

const encoder = new TextEncoder()

/** About how much of a model's context each level of loading takes, at one token per four bytes. */
function TokenCosts({ shown: { skill } }: { shown: ShownSkill }) {
  const metadataBytes = encoder.encode(`${skill.name}${skill.description}`).length
  const summaryBytes = metadataBytes + encoder.encode(skill.summary).length
  const fullBytes = skill.files.find(({ path }) => path === 'SKILL.md')?.size
  return (
    <Terms
      class="details"
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

function toOrigin({ skill: { origin } }: ShownSkill) {
  if (origin.kind === 'local') return null
  return (
    <>
      {origin.kind === 'mirror' ? 'mirrored' : 'imported'} from <bdi>{origin.upstream ?? 'elsewhere'}</bdi>
      {origin.syncedAt && (
        <>
          , <Time at={origin.syncedAt} />
        </>
      )}
    </>
  )
}

function Words(props: { title: string; words: readonly string[]; toHref?: (word: string) => string }) {
  if (props.words.length === 0) return null
  return (
    <>
      <h2>{props.title}</h2>
      <ul class="words">
        {props.words.map((word) => (
          <li key={word}>{props.toHref ? <NameLink href={props.toHref(word)} name={word} /> : <bdi>{word}</bdi>}</li>
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

function Downloads({ name }: { name: string }) {
  const downloads = useData(['skill', name, 'downloads'], async () => {
    const { days, total } = await api.getDownloads({ name, days: 30 })
    const series = [
      { label: 'Downloads', values: days.map((day) => day.downloads) },
      { label: 'Installs', values: days.map((day) => day.installs) },
    ]
    return { total, days: days.map(({ day }) => day), series }
  })
  return (
    <Shown of={downloads}>
      {({ total, days, series }) =>
        total === 0 ? (
          <p class="faint">None in the last 30 days.</p>
        ) : (
          <Chart days={days} series={series} label={`${total.toLocaleString('en')} in the last 30 days`} />
        )
      }
    </Shown>
  )
}
