import { shortenAtWord } from '@skillstead/skill-format'
import type { NodeParts } from '../context/node-parts.ts'
import { escapeHtml } from './html.ts'
import type { PageText } from './page-texts.ts'
import type { ShownSite } from './site.ts'

const defaultText = 'A registry for agent skills'
const descriptionCharactersMax = 200
const sharedText = { title: 'Shared skill', description: 'A skill that its owner shares by this link.' }
const factCharactersMax = 1000
const linksMax = 100

/** What a page is made from, in addition to the page of the app. */
export interface PageParts {
  /** The URL of the node without a trailing slash; empty if it is not known. */
  readonly address: string
  /** Undefined for a page without content of its own, which search engines leave out. */
  readonly text?: PageText | undefined
  /** The shared skill, if the caller opens a share link. */
  readonly shared?: string | undefined
  /** JSON for the app, which then shows the page without another request. */
  readonly data?: string | undefined
  /** Why there is no page to show. */
  readonly problem?: string | undefined
}

/**
 * Writes pages: the page of the app with a title, data for previews of links, and a `noscript` element with the
 * essentials for readers without JavaScript.
 */
export class PageTemplate {
  readonly #site: ShownSite
  readonly #node: Pick<NodeParts, 'publicPath' | 'requireKey'>
  /** The path of the picture in previews, unless the site has a logo. */
  readonly #picture: string | undefined
  readonly #withData: string
  readonly #withoutData: string

  constructor(page: string, site: ShownSite, node: Pick<NodeParts, 'publicPath' | 'requireKey'>) {
    this.#site = site
    this.#node = node
    this.#picture = / property="og:image" content="\/?([^"]+)"/.exec(page)?.[1]
    this.#withData = page
      .replace(/\s*<meta (?:property="og:image"|name="description")[^>]*>/g, '')
      .replaceAll(/ (href|src)="\//g, ` $1="${node.publicPath}/`)
    this.#withoutData = this.#withData.replaceAll(/\s*<link [^>]*data-page="skill"[^>]*>/g, '')
  }

  write(parts: PageParts): Uint8Array {
    return Buffer.from(
      (parts.data === undefined ? this.#withoutData : this.#withData)
        .replace(/<title>[^]*?<\/title>/, () => this.#toHead(parts))
        .replace(
          /<noscript>[^]*?<\/noscript>/,
          () => `${toData(parts)}<noscript>${this.#toEssentials(parts)}</noscript>`,
        ),
    )
  }

  #toHead({ address, text, shared }: PageParts): string {
    const site = this.#site
    const picture = this.#picture
    const { publicPath, requireKey } = this.#node
    const logo = site.logo && `${publicPath}/site-logo`
    // A page of a share link has a general title, because previews in chats and mails must not show a private skill.
    // The app then sets the title of the skill.
    const shown = shared === undefined ? text : sharedText
    const title = shown ? `${shown.title} · ${site.name}` : site.name
    const description = shown?.description.trim() || site.text || defaultText
    const short = shortenAtWord(description.replaceAll(/\s+/g, ' '), descriptionCharactersMax)
    const image = site.logo?.contentType === 'image/png' ? 'site-logo' : picture
    return [
      `<title>${escapeHtml(title)}</title>`,
      toMeta('name', 'description', short),
      toMeta('name', 'skillstead-site-name', site.name),
      site.text && toMeta('name', 'skillstead-site-text', site.text),
      logo && toMeta('name', 'skillstead-site-logo', logo),
      site.signIn && toMeta('name', 'skillstead-site-sign-in', site.signIn),
      site.recordsInstallers && toMeta('name', 'skillstead-site-installers', 'recorded'),
      requireKey && toMeta('name', 'skillstead-private', 'true'),
      shared !== undefined && toMeta('name', 'skillstead-shared', shared),
      ...(text === undefined || shared !== undefined
        ? [toMeta('name', 'robots', 'noindex')]
        : [
            address && `<link rel="canonical" href="${escapeHtml(address + text.path)}">`,
            address && toMeta('property', 'og:url', address + text.path),
            toMeta('property', 'og:type', 'website'),
            toMeta('property', 'og:site_name', site.name),
            toMeta('property', 'og:title', text.title),
            toMeta('property', 'og:description', short),
            address && image && toMeta('property', 'og:image', `${address}/${image}`),
            toMeta('name', 'twitter:card', image === picture ? 'summary_large_image' : 'summary'),
          ]),
    ]
      .filter(Boolean)
      .join('\n    ')
  }

  #toEssentials({ address, text, problem }: PageParts): string {
    const { publicPath, requireKey } = this.#node
    const reference = `<p>This page is complete with JavaScript only. Programs use <a href="${publicPath}/docs">the API</a>.</p>`
    if (problem !== undefined) return `<p>${escapeHtml(problem)}</p>`
    if (text === undefined && requireKey)
      return `<p>This node is private. Signing in needs JavaScript. Programs send an API key to <a href="${publicPath}/docs">the API</a>.</p>`
    if (text === undefined) return reference
    const facts = (text.facts ?? []).map(
      ([term, fact]) => `<dt>${escapeHtml(term)}</dt><dd>${isolate(fact.slice(0, factCharactersMax))}</dd>`,
    )
    const links = (text.links ?? []).slice(0, linksMax)
    const items = links.map(
      ([path, title]) => `<li><a href="${escapeHtml(publicPath + path)}">${isolate(title)}</a></li>`,
    )
    return [
      `<h1>${isolate(text.title)}</h1>`,
      `<p dir="auto">${escapeHtml(text.description)}</p>`,
      text.install && address && `<pre><code>npx skills add ${escapeHtml(`${address}/${text.install}`)}</code></pre>`,
      facts.length > 0 && `<dl>${facts.join('')}</dl>`,
      items.length > 0 && `<ul>${items.join('')}</ul>`,
      text.body && `<pre>${escapeHtml(text.body)}</pre>`,
      reference,
    ]
      .filter(Boolean)
      .join('\n')
  }
}

/** The data in a `script` element that browsers do not run. `<` is escaped, so that the data cannot end the element. */
function toData({ data }: PageParts): string {
  if (data === undefined) return ''
  return `<script type="application/json" id="page-data">${data.replaceAll('<', '\\u003c')}</script>`
}

function toMeta(kind: 'name' | 'property', name: string, content: string): string {
  return `<meta ${kind}="${name}" content="${escapeHtml(content)}">`
}

/** Text whose direction does not affect the text around it. */
function isolate(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`
}
