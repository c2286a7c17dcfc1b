import { api, useData } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { Markdown } from '../../ui/lazy-components.tsx'
import { Empty, Notice, toBytesText } from '../../ui/parts.tsx'
import { Download } from '../../ui/own-files.tsx'
import { Shown } from '../../ui/page.tsx'
import type { ShownSkill } from './shown-skill.ts'
import { decodeShownText, isPicture, toApiAddress, toContentBytes, toFileAddress, toTab } from './shown-skill.ts'
import { TextPages } from './text-pages.tsx'
import { Views } from '../../ui/tabs.tsx'

/** Maximum size of rendered Markdown; the rest of a large SKILL.md is available as raw text. */
const renderedCharactersMax = 200_000

/** SKILL.md, rendered or raw. */
export function ReadmeTab({ shown }: { shown: ShownSkill }) {
  const { name, version } = shown
  const isRaw = useAddress().fields.view === 'raw'
  const load = async () => {
    const bytes = toContentBytes(await api.getSkillMd({ name, version, allowRecalled: true }))
    return { size: bytes.length, text: decodeShownText(bytes) ?? new TextDecoder().decode(bytes) }
  }
  const read = useData(['skill', name, 'skill.md', version], load, version !== '')
  if (!version) return <Empty>There is no SKILL.md to show.</Empty>
  return (
    <>
      <Views
        views={[
          { href: toTab(shown, ''), title: 'Rendered', current: !isRaw },
          { href: toTab(shown, '', { view: 'raw' }), title: 'Raw', current: isRaw },
        ]}
      >
        <Download path={toApiAddress(shown, 'skill.md')} name="SKILL.md">
          Download SKILL.md
        </Download>
      </Views>
      <Shown of={read}>
        {({ text, size }) =>
          isRaw ? (
            <TextPages text={text} path="SKILL.md" shown={shown} />
          ) : (
            <Rendered shown={shown} text={text} size={size} />
          )
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
  const targets = {
    toFile: (path: string, fragment: string) =>
      paths.has(path) ? toTab(shown, 'files', { path, fragment }) : undefined,
    toPicture: (path: string) => (paths.has(path) && isPicture(path) ? toFileAddress(shown, path) : undefined),
  }
  if (body.trim() === '') return <Empty>SKILL.md has frontmatter but no text. The raw view shows all of it.</Empty>
  return (
    <>
      {isCut && (
        <Notice tone="fair">
          This SKILL.md has {toBytesText(size)}; only its beginning is rendered.{' '}
          <a href={toTab(shown, '', { view: 'raw' })}>Read all of it raw</a>.
        </Notice>
      )}
      <Markdown text={part} targets={targets} />
    </>
  )
}

const withoutFrontmatter = (text: string): string =>
  text.replace(/^\uFEFF?---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/, '')
