import { api, useData } from '../../api.ts'
import { toAddress, useAddress } from '../../addresses.ts'
import { Chart, Markdown } from '../../ui/lazy-components.tsx'
import { Copyable, Empty, Notice, toBytesText, NameLink, Terms, toCount } from '../../ui/parts.tsx'
import { Shown } from '../../ui/page.tsx'
import { toInstalled } from './install-tab.tsx'
import { toInstallCommand } from './install-ways.ts'
import { toApiAddress, toContentBytes, toTab, decodeShownText, type ShownSkill } from './shown-skill.ts'
import { TextPages } from './text-pages.tsx'
import { Views } from '../../ui/tabs.tsx'

/** Maximum size of rendered Markdown; the rest of a large SKILL.md is available as raw text. */
const renderedCharactersMax = 200_000

/** SKILL.md, rendered or raw, with a summary of the skill next to it. */
export function ReadmeTab({ shown }: { shown: ShownSkill }) {
  return (
    <div class="side-by-side">
      <div>{shown.version ? <Readme shown={shown} /> : <Empty>There is no SKILL.md to show.</Empty>}</div>
      <aside aria-label="At a glance">
        <Glance shown={shown} />
      </aside>
    </div>
  )
}

function Readme({ shown }: { shown: ShownSkill }) {
  const { name, version } = shown
  const { fields } = useAddress()
  const isRaw = fields.view === 'raw'
  const read = useData(['skill', name, 'skill.md', version], async () => {
    const bytes = toContentBytes(await api.getSkillMd({ name, version }))
    return { size: bytes.length, text: decodeShownText(bytes) ?? new TextDecoder().decode(bytes) }
  })
  return (
    <>
      <Views
        views={[
          { href: toTab(shown, ''), title: 'Rendered', current: !isRaw },
          { href: toTab(shown, '', { view: 'raw' }), title: 'Raw', current: isRaw },
        ]}
      >
        <a href={toApiAddress(shown, 'skill.md')} download="SKILL.md">
          Download SKILL.md
        </a>
      </Views>
      <Shown of={read}>
        {({ text, size }) =>
          isRaw ? <TextPages text={text} label="SKILL.md" /> : <Rendered shown={shown} text={text} size={size} />
        }
      </Shown>
    </>
  )
}

function Rendered({ shown, text, size }: { shown: ShownSkill; text: string; size: number }) {
  const body = withoutFrontmatter(text)
  const isCut = body.length > renderedCharactersMax
  const part = isCut ? body.slice(0, body.lastIndexOf('\n', renderedCharactersMax) + 1 || renderedCharactersMax) : body
  const paths = new Set(shown.skill.files.map(({ path }) => path))
  const toFile = (path: string) => (paths.has(path) ? toTab(shown, 'files', { path }) : undefined)
  if (body.trim() === '') return <Empty>SKILL.md has frontmatter but no text. The raw view shows all of it.</Empty>
  return (
    <>
      <Markdown text={part} toFile={toFile} />
      {isCut && (
        <Notice tone="fair">
          This SKILL.md has {toBytesText(size)}; only its beginning is rendered.{' '}
          <a href={toTab(shown, '', { view: 'raw' })}>Read all of it raw</a>.
        </Notice>
      )}
    </>
  )
}

function withoutFrontmatter(text: string): string {
  return text.replace(/^\uFEFF?---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/, '')
}

function Glance({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  return (
    <>
      {shown.version && (
        <>
          <h2>Install</h2>
          <Copyable text={toInstallCommand(toInstalled(shown))} />
          <p>
            <a href={toTab(shown, 'install')}>For other agents and installers</a>
          </p>
        </>
      )}
      <h2>Downloads</h2>
      <Downloads name={shown.name} />
      {skill.capabilities.length > 0 && (
        <>
          <h2>Capabilities</h2>
          <ul class="words">
            {skill.capabilities.slice(0, 30).map((capability) => (
              <li key={capability}>
                <bdi>{capability}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
      {skill.keywords.length > 0 && (
        <>
          <h2>Keywords</h2>
          <ul class="words">
            {skill.keywords.map((keyword) => (
              <li key={keyword}>
                <NameLink href={toAddress('/', { keyword })} name={keyword} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Details</h2>
      <Terms
        class="details"
        of={[
          ['Version', shown.version || 'none'],
          ['Size', `${toBytesText(skill.size)} in ${toCount(skill.files.length, 'file')}`],
          ['Forks', <a href={toTab(shown, 'similar')}>{skill.forks.toLocaleString('en')}</a>],
          ['Repository', /^https?:\/\//i.test(skill.repository) ? <Repository url={skill.repository} /> : null],
        ]}
      />
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
