import { toMarkedText } from '@skillstead/protocol'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useData } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { CodeLine } from '../../ui/parts.tsx'
import { Pager, toPageNumber } from '../../ui/page.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'

const pageCharactersMax = 100_000
const pageLinesMax = 2000

/** A text with line numbers that are links, and with its syntax highlighted; a long text is paged. */
export function TextPages(props: {
  text: string
  /** The path of the file, whose extension names the language. */
  path: string
  shown: ShownSkill
  lineAsked?: number | undefined
}) {
  const { text, path, lineAsked } = props
  const language = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  const { fields } = useAddress()
  const pages = useMemo(() => splitIntoPages(text), [text])
  const asked = fields.page === undefined && lineAsked ? findPage(pages, lineAsked) : toPageNumber(fields.page)
  const page = Math.min(asked, pages.length)
  const { firstLine, lines: written } = pages[page - 1]!
  // Characters that reverse or hide text are shown as marks.
  const lines = useMemo(() => written.map(toMarkedText), [written])
  const place = lineAsked === undefined ? -1 : lineAsked - firstLine
  return (
    <>
      <div class="text" role="region" aria-label={path} tabIndex={0}>
        <pre class="numbers">
          {lines.map((_, at) => {
            const line = `${firstLine + at}`
            return (
              <>
                <a key={line} href={toTab(props.shown, 'files', { path, line })} aria-label={`Line ${line}`}>
                  {line}
                </a>
                {'\n'}
              </>
            )
          })}
        </pre>
        <Source lines={lines} place={place} language={language} />
      </div>
      <Pager page={page} totalPages={pages.length} />
    </>
  )
}

/** The lines with the asked line marked, and with their syntax highlighted once the highlighter has answered. */
function Source({ lines, place, language }: { lines: readonly string[]; place: number; language: string }) {
  const code = lines.join('\n')
  // If the script of the highlighter cannot be loaded, the text stays plain.
  const { data: parts } = useData(['highlighted', language, code], async () =>
    (await import('../../ui/highlight.ts')).highlight({ code, language }),
  )
  const marked = useRef<HTMLElement>(null)
  useEffect(() => marked.current?.scrollIntoView({ block: 'nearest' }), [code, place])
  return (
    <pre class="lines">
      {lines.map((line, at) => {
        const content = parts?.[at]?.length ? <CodeLine of={parts[at]} /> : line
        return (
          <>
            {at === place ? (
              <mark key={at} ref={marked}>
                {content || ' '}
              </mark>
            ) : (
              content
            )}
            {'\n'}
          </>
        )
      })}
    </pre>
  )
}

interface TextPage {
  readonly firstLine: number
  readonly lines: readonly string[]
}

/** Splits text into pages at line ends, except within a line that is longer than a page. */
function splitIntoPages(text: string): TextPage[] {
  const pages: TextPage[] = []
  let lines: string[] = []
  let characters = 0
  let number = 1
  const turn = (continues = false) => {
    pages.push({ firstLine: number - lines.length + (continues ? 1 : 0), lines })
    lines = []
    characters = 0
  }
  const all = text.split(/\r\n|\r|\n/)
  // A line break at the end begins no further line.
  if (all.length > 1 && all.at(-1) === '') all.pop()
  for (const line of all) {
    if (lines.length > 0 && (lines.length >= pageLinesMax || characters + line.length > pageCharactersMax)) turn()
    let rest = line
    for (; rest.length > pageCharactersMax; rest = rest.slice(pageCharactersMax)) {
      lines.push(rest.slice(0, pageCharactersMax))
      turn(true)
    }
    lines.push(rest)
    characters += rest.length
    number += 1
  }
  turn()
  return pages
}

function findPage(pages: readonly TextPage[], line: number): number {
  const at = pages.findIndex(({ firstLine, lines }) => line < firstLine + lines.length)
  return at === -1 ? pages.length : at + 1
}
