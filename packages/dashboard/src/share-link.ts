import { addresses, nodePath } from './addresses.ts'
import { readPageMeta } from './site.ts'

interface ShareLink {
  readonly fullName: string
  readonly token: string
}

const key = 'skillstead-share-link'
let opened: ShareLink | undefined

/**
 * Opens the skill of a share link, `/t/TOKEN`. The token leaves the address; this window keeps it until it is closed, and
 * sends it with the requests about this skill. Call it before anything is rendered.
 */
export function openShareLink(): void {
  const fullName = readPageMeta('skillstead-shared')
  if (fullName === undefined) return void (opened = readShareLink())
  opened = { fullName, token: decodeURIComponent(location.pathname.slice(location.pathname.lastIndexOf('/') + 1)) }
  history.replaceState(null, '', nodePath + addresses.skill(fullName))
  try {
    sessionStorage.setItem(key, JSON.stringify(opened))
  } catch {
    // The page works until it is reloaded.
  }
}

/** The header that lets the holder of a share link read the skill of an API address. */
export function toShareHeaders(address: string): Record<string, string> {
  if (opened === undefined) return {}
  const [before, rest] = address.split(`/api/v1/skills/${encodeURIComponent(opened.fullName)}`)
  return before !== undefined && rest !== undefined && /^(?:[/?]|$)/.test(rest) ? { 'x-share-token': opened.token } : {}
}

function readShareLink(): ShareLink | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
