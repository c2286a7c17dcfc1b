import { useMemo } from 'preact/hooks'
import { decodeEscapes, toAnchor } from './anchors.ts'
import { highlight, toCodeNodes } from './highlight.ts'

/** A heading of a rendered text, with the anchor that links to it. */
export interface ShownHeading {
  readonly anchor: string
  readonly text: string
  /** 2 for the highest. */
  readonly level: number
}

/** Texts with fewer headings have no table of contents. */
const contentsMin = 4
const contentsMax = 100

/** Gives each heading its anchor and returns them; of two with the same text the first has it. */
export function nameHeadings(root: HTMLElement): ShownHeading[] {
  const headings = new Map<string, ShownHeading>()
  for (const heading of root.querySelectorAll('h2, h3, h4')) {
    const text = heading.textContent.trim()
    const anchor = toAnchor(text)
    if (text === '' || headings.has(anchor)) continue
    heading.id = anchor
    headings.set(anchor, { anchor, text, level: Number(heading.tagName[1]) })
  }
  return [...headings.values()]
}

/** Shows the heading that the address names: it was not there yet when the browser looked for it. */
export function scrollToAnchor(): void {
  if (location.hash.startsWith('#readme-'))
    document.getElementById(decodeEscapes(location.hash.slice(1)))?.scrollIntoView()
}

/**
 * The table of contents. Until the headings of the text are known, its place is kept by those that the text seems to have.
 */
export function Contents({ of, source }: { of: readonly ShownHeading[] | undefined; source: string }) {
  const seeming = useMemo(() => countHeadingLines(source), [source])
  if ((of?.length ?? seeming) < contentsMin) return null
  return (
    <details class="contents">
      <summary>Contents</summary>
      <ul>
        {of?.slice(0, contentsMax).map(({ anchor, text, level }) => (
          <li key={anchor} class={`level-${level}`}>
            <a href={`#${anchor}`}>
              <bdi>{text}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

function countHeadingLines(text: string): number {
  let isCode = false
  let count = 0
  for (const line of text.split('\n')) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    else if (!isCode && /^#{1,3} +\S/.test(line)) count += 1
  }
  return count
}

/** Highlights the code blocks and gives each a button that copies it. */
export async function finishCode(root: HTMLElement, signal: AbortSignal): Promise<void> {
  for (const block of root.querySelectorAll<HTMLElement>('pre[data-language]')) {
    const code = block.textContent
    addCopyButton(block, code)
    const lines = await highlight({ code, language: block.dataset.language! })
    if (signal.aborted) return
    if (lines) {
      const nodes = lines.flatMap((line, place) => [...(place > 0 ? ['\n'] : []), ...toCodeNodes(line)])
      block.firstElementChild!.replaceChildren(...nodes)
    }
  }
}

function addCopyButton(block: HTMLElement, code: string): void {
  const frame = document.createElement('div')
  frame.className = 'copyable'
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(code).then(
      () => (button.textContent = 'Copied'),
      // Browsers allow the clipboard on secure origins only; manual selection works everywhere.
      () => (button.textContent = 'Select it to copy'),
    )
  })
  block.replaceWith(frame)
  frame.append(block, button)
}
