import { useMemo } from 'preact/hooks'
import { useAddress } from '../../addresses.ts'
import { Pager, toPageNumber } from '../../ui/page.tsx'

const pageCharactersMax = 100_000
const pageLinesMax = 2000

/** Raw text with line numbers; long text is paged. */
export function TextPages({ text, label, lineAsked }: { text: string; label: string; lineAsked?: number }) {
  const { fields } = useAddress()
  const pages = useMemo(() => splitIntoPages(text), [text])
  const asked = fields.page === undefined && lineAsked ? findPage(pages, lineAsked) : toPageNumber(fields.page)
  const page = Math.min(asked, pages.length)
  const { firstLine, lines } = pages[page - 1]!
  const place = lineAsked === undefined ? -1 : lineAsked - firstLine
  return (
    <>
      <div class="text" role="region" aria-label={label} tabIndex={0}>
        <pre class="numbers" aria-hidden="true">
          {lines.map((_, at) => firstLine + at).join('\n')}
        </pre>
        <pre class="lines">
          {place >= 0 && place < lines.length ? (
            <>
              {joinShownLines(lines.slice(0, place))}
              <mark>{lines[place] || ' '}</mark>
              {`\n${lines.slice(place + 1).join('\n')}`}
            </>
          ) : (
            lines.join('\n')
          )}
        </pre>
      </div>
      <Pager page={page} totalPages={pages.length} />
    </>
  )
}

interface TextPage {
  readonly firstLine: number
  readonly lines: readonly string[]
}

function joinShownLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
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
  for (const line of text.split(/\r\n|\r|\n/)) {
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
