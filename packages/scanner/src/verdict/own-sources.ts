/** Names that many skills share: of hosts of agents, and of what any skill may be about. An owner has none of them. */
const sharedNames = new Set(
  `agent agents anthropic assistant auth automation claude clawd clawdbot claw code codex copilot cursor data deploy docker
  download files gemini github google helper install installer local macos memory moltbot monitor network openai openclaw
  platform plugin project registry scripts search secure security server setup skill skills system terminal tool tools
  update windows`.split(/\s+/),
)
const nameCharactersMin = 4

/** Sites on which anyone can publish under any free name, so that a name proves nothing. */
const hostingPattern =
  /\.(?:vercel|netlify|onrender|replit|web|pages|fly|surge|workers|herokuapp|firebaseapp|webflow|notion|framer)\.\w+$/
/** Pages of forges; the label before them is the owner, as in addresses of repositories. */
const forgePagesPattern = /\.(?:github|gitlab)\.io$/
const forgePattern =
  /^(?:www\.)?(?:(?:raw\.|gist\.)?github(?:usercontent)?|gist\.githubusercontent|gitlab|codeberg|bitbucket)\.\w+$/
const addressPattern = /\bhttps?:\/\/([\w.-]+)(?::\d+)?([^\s"'`)\]>|;]*)/gi
const bareAddressPattern = /(?<![\w./-])((?:[\w-]+\.)+[a-z]{2,})(\/[^\s"'`)\]>|;]*)/gi
/** Domains such as `co.uk`, below which names are registered. */
const registryPattern = /\.(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}$/
const variablePattern = /\$\{?([A-Z]+)_[A-Z_]+/

/**
 * Tells the sources of the product that a skill is about from those of others: an installer of its own product is a
 * power, and no reason for suspicion. A skill can claim any name, so that this never excuses an address without an owner.
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
    this.#name = toName(name)
    this.#words = toNames(name.split(/[^\dA-Za-z]+/))
    this.#products = toNames(description.replace(addressPattern, ' ').match(/\b[A-Z][\w-]+/g) ?? [])
  }

  /** Whether a text names addresses, and all of them have the name of the skill or of its product. */
  includes(text: string): boolean {
    const others = text.replace(addressPattern, ' ')
    const addresses = [...text.matchAll(addressPattern), ...others.matchAll(bareAddressPattern)]
    if (addresses.length === 0) return this.#isName(toName(variablePattern.exec(text)?.[1] ?? ''))
    return addresses.every(([, host = '', path = '']) => this.#isOwn(host.toLowerCase(), path))
  }

  #isOwn(host: string, path: string): boolean {
    // What precedes an `@` is the name of a user, not of the host.
    if (/^[^/]*@/.test(path)) return false
    if (forgePattern.test(host)) {
      const [, owner = '', repository = ''] = path.split('/')
      return [owner, owner.split(/[-_]/, 1)[0]!, repository]
        .map(toName)
        .some((each) => this.#isName(each) || this.#products.has(each))
    }
    const labels = host.replace(/\.+$/, '').split('.')
    if (labels.length < 2) return false
    const domain = labels.join('.')
    if (hostingPattern.test(domain)) return false
    if (forgePagesPattern.test(domain)) return this.#isName(toName(labels.at(-3) ?? ''))
    const label = toName(labels.at(registryPattern.test(domain) ? -3 : -2) ?? '')
    return this.#isName(label) || this.#products.has(label)
  }

  #isName(name: string): boolean {
    if (name.length < nameCharactersMin || sharedNames.has(name)) return false
    return (
      this.#words.has(name) ||
      this.#name.startsWith(name) ||
      (this.#name.length > nameCharactersMin && name.startsWith(this.#name))
    )
  }
}

function toName(text: string): string {
  return text.toLowerCase().replace(/[^\da-z]/g, '')
}

function toNames(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map(toName).filter((name) => name.length >= nameCharactersMin && !sharedNames.has(name)))
}
