import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { render } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { nodePath } from '../addresses.ts'
import { decodeEscapes, toAnchor } from './anchors.ts'
import { divideMarkdown } from './divide-markdown.ts'
import { highlight } from './highlight.ts'
import type { CodePart } from './highlight-worker.ts'
import { showPicture } from './own-files.tsx'
import { CodeLine, copyText } from './parts.tsx'

/**
 * Allows only elements for text, tables, lists and code, and pictures of the skill itself: no styles, forms or other
 * content that is fetched.
 */
const allowed = {
  ALLOWED_TAGS: (
    'h2 h3 h4 h5 h6 p br hr ul ol li dl dt dd blockquote pre code em strong del s sub sup kbd a table thead tbody tr th td ' +
    'details summary img'
  ).split(' '),
  ALLOWED_ATTR: 'href title align start colspan rowspan open alt data-language data-picture width height'.split(' '),
  ADD_URI_SAFE_ATTR: ['align', 'start', 'colspan', 'rowspan', 'open', 'width', 'height', 'data-language'],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true as const,
}

/**
 * Maximum time for one piece. After two slower pieces the document is treated as malicious, and the rest is shown as
 * plain text.
 */
const pieceMsMax = 500
const slowPiecesMax = 2

/** Returns the addresses of files that a text refers to by relative paths; undefined for a file that does not exist. */
export interface Targets {
  /** Whether the text is a guide, given without its title. */
  readonly isGuide?: boolean
  toFile(path: string, fragment: string): string | undefined
  toPicture(path: string): string | undefined
}

/** The targets of the document that is being sanitised. Sanitising is synchronous, so there is only one at a time. */
let targetsNow: Targets | undefined

const purifier = DOMPurify(window)
purifier.addHook('uponSanitizeAttribute', (element, attribute) => {
  const { attrName: name, attrValue: value } = attribute
  if (element.tagName === 'IMG' && name === 'data-picture') {
    attribute.keepAttr = attribute.forceKeepAttr = isPicture(value)
  }
  if (element.tagName !== 'A' || name !== 'href') return
  const file = targetsNow?.toFile(toLinkedPath(value), value.split('#')[1] ?? '')
  const address = value.startsWith('#') ? `#${toAnchor(value.slice(1))}` : file && nodePath + file
  if (address === undefined) return
  element.setAttribute('href', address)
  attribute.forceKeepAttr = true
})
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName === 'IMG' && !element.hasAttribute('data-picture')) element.remove()
  // Scrollable elements must be reachable by keyboard.
  if (element.tagName === 'PRE' || element.tagName === 'TABLE') element.setAttribute('tabindex', '0')
  const href = element.tagName === 'A' && element.getAttribute('href')
  if (!href) return
  // Links get no opener and no referrer, and search engines do not count them as an endorsement (`ugc`).
  element.setAttribute('rel', 'noopener noreferrer nofollow ugc')
  element.setAttribute('target', href.startsWith('/') || href.startsWith('#') ? '_self' : '_blank')
})

const isPicture = (address: string): boolean => address.startsWith('/api/') || address.startsWith('/docs/guides/')

/** The path of a file in the `href` of a link, relative to the text with the link. */
const toLinkedPath = (href: string): string => decodeEscapes(href.replace(/^\.\//, '').split('#')[0]!)

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // The title of the page is its only first-level heading, so all headings of a text move one level down. Headings of
    // a guide stay, because the title of the guide is not part of the text.
    heading({ tokens, depth }: Tokens.Heading) {
      const level = Math.min(6, targetsNow?.isGuide ? depth : depth + 1)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    code({ text, lang = '' }: Tokens.Code) {
      const language = /^[\w+#-]{1,30}/.exec(lang)?.[0].toLowerCase() ?? ''
      return `<pre data-language="${language}"><code>${escapeMarkup(text)}</code></pre>\n`
    },
    image({ href, text }: Tokens.Image) {
      return toPicture(href, text)
    },
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return toHarmless(text)
    },
    checkbox({ checked }: Tokens.Checkbox) {
      return checked ? '☑ ' : '☐ '
    },
  },
})

/** Markup that shows a picture of the skill itself, or links to any other picture. */
function toPicture(href: string, text: string, size = ''): string {
  const picture = targetsNow?.toPicture(toLinkedPath(href))
  if (picture) return `<img data-picture="${escapeMarkup(picture)}" alt="${escapeMarkup(text)}"${size}>`
  return `<a href="${escapeMarkup(href)}">${escapeMarkup(text || 'picture')}</a>`
}

const tagPattern = /<(\/?)([a-z][a-z0-9]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>/gi

/**
 * Untrusted markup: allowed tags lose their attributes, and all other markup becomes visible text, as the agent sees
 * it. The sanitiser then has nothing to remove that a browser would report.
 */
function toHarmless(html: string): string {
  let harmless = ''
  let end = 0
  for (const { 0: tag, 1: slash = '', 2: name = '', 3: rest = '', index } of html.matchAll(tagPattern)) {
    harmless += escapeMarkup(html.slice(end, index)) + toSafeTag(tag, slash, name.toLowerCase(), rest)
    end = index + tag.length
  }
  return harmless + escapeMarkup(html.slice(end))
}

function toSafeTag(tag: string, slash: string, name: string, rest: string): string {
  if (name === 'h1') return `<${slash}h2>`
  if (name === 'a' && !slash) {
    const href = readAttribute(rest, 'href')
    return href ? `<a href="${escapeMarkup(href)}">` : '<a>'
  }
  if (name === 'img') {
    const src = readAttribute(rest, 'src')
    const size = ['width', 'height'].map((side) => {
      const pixels = /^\d{1,4}$/.exec(readAttribute(rest, side) ?? '')?.[0]
      return pixels ? ` ${side}="${pixels}"` : ''
    })
    return src ? toPicture(src, readAttribute(rest, 'alt') ?? '', size.join('')) : escapeMarkup(tag)
  }
  if (layoutTags.has(name)) return ''
  return allowed.ALLOWED_TAGS.includes(name) ? `<${slash}${name}>` : escapeMarkup(tag)
}

function readAttribute(attributes: string, name: string): string | undefined {
  const [, ...values] =
    new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'<>\`]+))`, 'i').exec(attributes) ?? []
  return values.find((value) => value !== undefined)?.replaceAll('&amp;', '&')
}

/** Tags that only define the layout, and are removed. */
const layoutTags = new Set(['div', 'span', 'center', 'font', 'section'])

const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

/**
 * Untrusted Markdown, rendered and sanitised with https://github.com/cure53/DOMPurify, piece by piece, so that the page
 * is never blocked. `targets` resolves relative links and pictures.
 */
export default function Markdown({ text, targets }: { text: string; targets?: Targets }) {
  const [pieces, setPieces] = useState<readonly Sanitised[]>([])
  const [headings, setHeadings] = useState<readonly ShownHeading[]>()
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const ending = new AbortController()
    const done: Sanitised[] = []
    setPieces(done)
    setHeadings(undefined)
    void (async () => {
      let slowPieces = 0
      for (const piece of divideMarkdown(text)) {
        await turn()
        if (ending.signal.aborted) return
        const startedAt = performance.now()
        done.push(renderPiece({ ...piece, isPlain: piece.isPlain || slowPieces >= slowPiecesMax }, targets))
        if (performance.now() - startedAt > pieceMsMax) slowPieces += 1
        setPieces([...done])
      }
      await turn()
      if (ending.signal.aborted || !root.current) return
      for (const image of root.current.querySelectorAll<HTMLImageElement>('img[data-picture]'))
        void showPicture(image, image.dataset.picture!).catch(() => delete image.dataset.picture)
      setHeadings(nameHeadings(root.current))
      scrollToAnchor()
      await finishCode(root.current, ending.signal)
    })()
    return () => ending.abort()
  }, [text])
  return (
    <>
      <Contents of={headings} source={text} />
      <div class="markdown" dir="auto" aria-busy={!headings} ref={root}>
        {pieces.map((html, place) => (
          <div key={place} dangerouslySetInnerHTML={{ __html: html as unknown as string }} />
        ))}
      </div>
    </>
  )
}

/** Ends the current task, so that the browser shows the last piece before the next is rendered. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

function renderPiece({ text, isPlain }: { text: string; isPlain: boolean }, targets?: Targets): Sanitised {
  targetsNow = targets
  try {
    return sanitiseHtml(isPlain ? toPlainPiece(text) : marked.parse(text, { async: false }))
  } catch {
    // The text is nested deeper than the stack allows.
    return sanitiseHtml(toPlainPiece(text))
  } finally {
    targetsNow = undefined
  }
}

const sanitiseHtml = (html: string) => purifier.sanitize(html, allowed)
type Sanitised = ReturnType<typeof sanitiseHtml>

const toPlainPiece = (text: string): string => `<pre><code>${escapeMarkup(text)}</code></pre>`

/** A heading of a rendered text, with the anchor that links to it. */
interface ShownHeading {
  readonly anchor: string
  readonly text: string
  /** 2 for the highest. */
  readonly level: number
}

/** Texts with fewer headings have no table of contents. */
const contentsMin = 4
const contentsMax = 100

/** Gives the headings their anchors and returns them; of headings with the same anchor, only the first. */
function nameHeadings(root: HTMLElement): ShownHeading[] {
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

/** Scrolls to the heading that the address names, which did not exist yet when the browser looked for it. */
function scrollToAnchor(): void {
  if (location.hash.startsWith('#readme-'))
    document.getElementById(decodeEscapes(location.hash.slice(1)))?.scrollIntoView()
}

/**
 * The table of contents. Before the headings are known, its space is reserved if the source seems to have enough
 * headings.
 */
function Contents({ of, source }: { of: readonly ShownHeading[] | undefined; source: string }) {
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
async function finishCode(root: HTMLElement, signal: AbortSignal): Promise<void> {
  for (const block of root.querySelectorAll<HTMLElement>('pre[data-language]')) {
    const code = block.textContent
    addCopyButton(block, code)
    const lines = await highlight({ code, language: block.dataset.language! })
    if (signal.aborted) return
    if (lines) render(<Code lines={lines} />, block.firstElementChild!)
  }
}

const Code = ({ lines }: { lines: readonly CodePart[][] }) =>
  lines.map((line, place) => [place > 0 && '\n', <CodeLine key={place} of={line} />])

function addCopyButton(block: HTMLElement, code: string): void {
  const frame = Object.assign(document.createElement('div'), { className: 'copyable' })
  const button = document.createElement('button')
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    button.textContent = (await copyText(code)) ? 'Copied' : 'Select it to copy'
  })
  block.replaceWith(frame)
  frame.append(block, button)
}
