import { regex } from '../text/regex.ts'

/** Names that many skills share: of hosts of agents, and of what any skill may be about. They identify no owner. */
const sharedNames = new Set(
  `agent agents anthropic assistant auth automation claude clawd clawdbot claw code codex copilot cursor data deploy docker
  download files gemini github google helper install installer local macos memory moltbot monitor network openai openclaw
  platform plugin project registry scripts search secure security server setup skill skills system terminal tool tools
  update windows`.split(/\s+/),
)
const nameCharactersMin = 4

/** Sites on which anyone can publish under any free name below theirs, or at any path, so that a name proves nothing. */
const hostingPattern = regex`\.(vercel|netlify|onrender|replit|repl|web|pages|fly|surge|workers|deno|glitch|railway
  |streamlit|lovable|base44|bolt|framer|herokuapp|firebaseapp|webflow|notion|carrd|weebly|wixsite|blogspot|wordpress
  |gitbook|tiiny|r2|azurewebsites|cloudfront|amazonaws|supabase|ngrok(-free)?)\.\w+$
  |(^|\.)(dropbox(usercontent)?|mediafire|mega|rentry|glot|pastebin|hastebin|(drive|docs|sites)\.google
  |storage\.googleapis|core\.windows)\.\w+$`
/** Pages of forges; the label before them is the owner, as in addresses of repositories. */
const forgePagesPattern = /\.(?:github|gitlab)\.io$/
const forgePattern = regex`^(www\.)?((raw\.|gist\.)?github(usercontent)?|gist\.githubusercontent|gitlab|gitee|codeberg
  |bitbucket|huggingface)\.\w+$`
const addressPattern = /\b\w{2,6}:\/\/(?<host>[\w.-]+)(?::\d+)?(?<path>[^\s"'`)\]>|;]*)/g
const bareAddressPattern = /(?<![\w./-])(?<host>(?:[\w-]+\.)+[a-z]{2,})(?<path>\/[^\s"'`)\]>|;]*)/gi
/** A host without a path counts as an address if a download program gets it; otherwise it may be the name of a file. */
const bareHostPattern =
  /\b(?:curl|wget2?|irm|iwr)(?:\s+[^\s|;&]+){0,6}?\s+["']?(?<host>(?:[\w-]+\.)+(?!sh\b|js\b|py\b|zip\b|gz\b|md\b)[a-z]{2,})(?![\w./-])/gi
/** An IPv6 address in a URL, which names no owner. */
const numericPattern = /:\/\/\[/
/** A comment, whose addresses are not fetched. */
const commentPattern = /(?:^|\s)#\s[^"']*$/gm
/** Domains such as `co.uk`, below which names are registered. */
const registryPattern = /\.(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}$/

/**
 * Distinguishes addresses of the skill's own product from those of others: an installer of its own product is a power,
 * and no reason for suspicion. A skill can claim any name, so that this never excuses an address without an owner.
 */
export class OwnSources {
  readonly #name: string
  /** Words of the name. */
  readonly #words: ReadonlySet<string>
  /** Words of the description that look like names of products. */
  readonly #products: ReadonlySet<string>

  constructor(skillMd: string) {
    const frontmatter = /^---\r?\n([^]{0,4000}?)\n---/.exec(skillMd)?.[1] ?? ''
    const name = (/^name:\s*(\S.{0,100})/m.exec(frontmatter) ?? /^# (.{1,100})/m.exec(skillMd))?.[1] ?? ''
    const description = /^description:([^]{0,2000}?)(?=\n[\w-]+:|$(?![^]))/m.exec(frontmatter)?.[1] ?? ''
    this.#name = toSourceName(name)
    this.#words = toSourceNames(name.split(/[^\dA-Za-z]+/))
    this.#products = toSourceNames(description.replace(addressPattern, ' ').match(/\b[A-Z][\w-]+/g) ?? [])
  }

  /** Whether a text names addresses, and all of them have the name of the skill or of its product. */
  includes(text: string): boolean {
    const code = text.replace(commentPattern, '')
    if (numericPattern.test(code)) return false
    const others = code.replace(addressPattern, ' ')
    const addresses = [
      ...code.matchAll(addressPattern),
      ...others.matchAll(bareAddressPattern),
      ...others.matchAll(bareHostPattern),
    ]
    return (
      addresses.length > 0 &&
      addresses.every(({ groups }) => this.#isOwn(groups!['host']!.toLowerCase(), groups!['path'] ?? ''))
    )
  }

  #isOwn(host: string, path: string): boolean {
    // What precedes an `@` is the name of a user, not of the host.
    if (/^[^/]*@/.test(path)) return false
    if (forgePattern.test(host)) {
      const [, owner = '', repository = ''] = path.split('/')
      return [owner, owner.split(/[-_]/, 1)[0]!, repository]
        .map(toSourceName)
        .some((each) => this.#isName(each) || this.#products.has(each))
    }
    const labels = host.replace(/\.+$/, '').split('.')
    if (labels.length < 2) return false
    const domain = labels.join('.')
    if (hostingPattern.test(domain)) return false
    if (forgePagesPattern.test(domain)) return this.#isName(toSourceName(labels.at(-3) ?? ''))
    const label = toSourceName(labels.at(registryPattern.test(domain) ? -3 : -2) ?? '')
    return this.#isName(label) || this.#products.has(label)
  }

  #isName(name: string): boolean {
    if (name.length < nameCharactersMin || sharedNames.has(name)) return false
    return (
      this.#words.has(name) ||
      this.#name.startsWith(name) ||
      (this.#name.length > nameCharactersMin && !sharedNames.has(this.#name) && name.startsWith(this.#name))
    )
  }
}

function toSourceName(text: string): string {
  return text.toLowerCase().replace(/[^\da-z]/g, '')
}

function toSourceNames(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map(toSourceName).filter((name) => name.length >= nameCharactersMin && !sharedNames.has(name)))
}
