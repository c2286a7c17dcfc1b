import type { Site } from '../context/options.ts'

const logoBytesMax = 256 * 1024
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const textCharactersMax = { name: 60, text: 300 }

/** The site as pages show it. */
export interface ShownSite {
  readonly name: string
  /** The operator's sentence about the node. */
  readonly text?: string
  /** The host of the identity provider at which users sign in. */
  readonly signIn?: string
  /** Whether owners see which users installed their skills. */
  readonly recordsInstallers?: boolean
  readonly logo?: { readonly body: Uint8Array; readonly contentType: 'image/png' | 'image/svg+xml' }
}

/** The shown site. Throws a TypeError for a name or text too long, and a logo too large or neither SVG nor PNG. */
export function toShownSite({ name, text, logo }: Site = {}, signIn?: string): ShownSite {
  const own = toSiteText(text, 'text')
  return {
    name: toSiteText(name, 'name') ?? 'Skillstead',
    ...(own && { text: own }),
    ...(signIn !== undefined && { signIn }),
    ...(logo && { logo: toLogo(logo) }),
  }
}

function toSiteText(given: string | undefined, what: 'name' | 'text'): string | undefined {
  const text = given?.replaceAll(/\s+/g, ' ').trim()
  const max = textCharactersMax[what]
  if (text !== undefined && [...text].length > max)
    throw new TypeError(`The ${what} of the site has more than ${max} characters. Shorten it.`)
  return text || undefined
}

function toLogo(body: Uint8Array): ShownSite['logo'] {
  if (body.byteLength > logoBytesMax)
    throw new TypeError(
      `The logo of the site is larger than ${logoBytesMax / 1024} KiB. Use a smaller SVG or PNG file.`,
    )
  if (pngSignature.equals(body.subarray(0, pngSignature.length))) return { body, contentType: 'image/png' }
  const start = Buffer.from(body.subarray(0, 4096)).toString()
  if (/^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/i.test(start))
    return { body, contentType: 'image/svg+xml' }
  throw new TypeError('The logo of the site is neither an SVG nor a PNG file. Use one of these.')
}
