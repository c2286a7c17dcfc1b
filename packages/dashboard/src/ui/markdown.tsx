import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { useEffect, useState } from 'preact/hooks'
import { divideMarkdown } from './divide-markdown.ts'

/** What a document may consist of: text, tables, lists, code. No styles, forms, pictures or anything that is fetched. */
const allowed = {
  ALLOWED_TAGS: (
    'h2 h3 h4 h5 h6 p br hr ul ol li dl dt dd blockquote pre code em strong del s sub sup kbd a table thead tbody tr th td ' +
    'details summary'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'colspan', 'rowspan', 'open'],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true as const,
}

/** Two pages of text that take longer mean no good: what follows is shown as it is. */
const pieceMsMax = 500
const slowPiecesMax = 2

/** Where a relative link leads; undefined where there is nothing. */
type ToFile = (path: string) => string | undefined

/** Of the document that is being sanitised: that is done in one go, so that there is only ever one. */
let toFileNow: ToFile | undefined

const purifier = DOMPurify(window)
purifier.addHook('uponSanitizeAttribute', (element, attribute) => {
  if (element.tagName !== 'A' || attribute.attrName !== 'href') return
  const address = toFileNow?.(toPath(attribute.attrValue))
  if (address === undefined) return
  element.setAttribute('href', address)
  attribute.forceKeepAttr = true
})
purifier.addHook('afterSanitizeAttributes', (element) => {
  // What scrolls is reached by the keyboard.
  if (element.tagName === 'PRE' || element.tagName === 'TABLE') element.setAttribute('tabindex', '0')
  if (element.tagName !== 'A' || !element.hasAttribute('href')) return
  // Links lead away, and take neither an opener nor a good name along.
  element.setAttribute('rel', 'noopener noreferrer nofollow ugc')
  element.setAttribute('target', element.getAttribute('href')!.startsWith('/') ? '_self' : '_blank')
})

/** A path beside SKILL.md as people link to it. */
function toPath(href: string): string {
  const [path = ''] = href.replace(/^\.\//, '').split('#')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // The page's own name is its one heading of the first level.
    heading({ tokens, depth }: Tokens.Heading) {
      const level = Math.min(6, depth + 1)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    image({ href, text }: Tokens.Image) {
      return `<a href="${escape(href)}">${escape(text || 'picture')}</a>`
    },
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return toHarmless(text)
    },
    checkbox({ checked }: Tokens.Checkbox) {
      return checked ? '☑ ' : '☐ '
    },
  },
})

const tagPattern = /<(\/?)([a-z][a-z0-9]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>/gi

/**
 * Markup of a stranger: tags that documents consist of lose what they say besides, and all else is text that one sees,
 * as the agent does. The sanitiser then has nothing to take out that a browser would complain of.
 */
function toHarmless(html: string): string {
  let harmless = ''
  let end = 0
  for (const { 0: tag, 1: slash = '', 2: name = '', 3: rest = '', index } of html.matchAll(tagPattern)) {
    harmless += escape(html.slice(end, index)) + toTag(tag, slash, name.toLowerCase(), rest)
    end = index + tag.length
  }
  return harmless + escape(html.slice(end))
}

function toTag(tag: string, slash: string, name: string, rest: string): string {
  if (name === 'h1') return `<${slash}h2>`
  if (name === 'a' && !slash) {
    const href = /\bhref\s*=\s*["']?([^\s"'<>`]+)/i.exec(rest)?.[1]
    return href ? `<a href="${escape(href.replaceAll('&amp;', '&'))}">` : '<a>'
  }
  if (layoutTags.has(name)) return ''
  return allowed.ALLOWED_TAGS.includes(name) ? `<${slash}${name}>` : escape(tag)
}

/** What only says where things stand. */
const layoutTags = new Set(['div', 'span', 'center', 'font', 'section'])

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}

/**
 * Markdown of a stranger, rendered and sanitised: https://github.com/cure53/DOMPurify. A piece at a time, so that the
 * page never stands still. `toFile` says where relative links lead.
 */
export default function Markdown({ text, toFile }: { text: string; toFile?: ToFile }) {
  const [pieces, setPieces] = useState<readonly Sanitised[]>([])
  useEffect(() => {
    const ending = new AbortController()
    const done: Sanitised[] = []
    setPieces(done)
    void (async () => {
      let slowPieces = 0
      for (const piece of divideMarkdown(text)) {
        if (ending.signal.aborted) return
        const startedAt = performance.now()
        done.push(render({ ...piece, isPlain: piece.isPlain || slowPieces >= slowPiecesMax }, toFile))
        if (performance.now() - startedAt > pieceMsMax) slowPieces += 1
        setPieces([...done])
        await new Promise((resolve) => setTimeout(resolve))
      }
    })()
    return () => ending.abort()
  }, [text])
  return (
    <div class="markdown" dir="auto">
      {pieces.map((html, place) => (
        <div key={place} dangerouslySetInnerHTML={{ __html: html as unknown as string }} />
      ))}
    </div>
  )
}

function render({ text, isPlain }: { text: string; isPlain: boolean }, toFile?: ToFile): Sanitised {
  toFileNow = toFile
  try {
    return sanitise(isPlain ? toPlain(text) : marked.parse(text, { async: false }))
  } catch {
    // Nested deeper than the stack is.
    return sanitise(toPlain(text))
  } finally {
    toFileNow = undefined
  }
}

function sanitise(html: string) {
  return purifier.sanitize(html, allowed)
}
type Sanitised = ReturnType<typeof sanitise>

function toPlain(text: string): string {
  return `<pre><code>${escape(text)}</code></pre>`
}
