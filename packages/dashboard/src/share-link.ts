import { addresses, nodePath } from './addresses.ts'
import { readPageMeta } from './site.ts'
import { readMemory, writeMemory } from './browser-memory.ts'

interface ShareLink {
  readonly fullName: string
  readonly token: string
}

const key = 'skillstead-share-link'
let opened: ShareLink | undefined

/**
 * Opens the skill of a share link, `/t/TOKEN`. Removes the token from the address; this window keeps the token until
 * the window is closed, and sends it with requests about the skill. Call this before anything is rendered.
 */
export function openShareLink(): void {
  const fullName = readPageMeta('skillstead-shared')
  if (fullName === undefined)
    return void (opened = JSON.parse(readMemory(key, 'sessionStorage') ?? 'null') ?? undefined)
  opened = { fullName, token: decodeURIComponent(location.pathname.slice(location.pathname.lastIndexOf('/') + 1)) }
  history.replaceState(null, '', nodePath + addresses.skill(fullName))
  writeMemory(key, JSON.stringify(opened), 'sessionStorage')
}

/** Forgets the share link: because it gives no access any more, or because another person may use this window. */
export function closeShareLink(): void {
  opened = undefined
  writeMemory(key, null, 'sessionStorage')
}

/** The header with the token of the opened share link, for an API address about its skill; otherwise no header. */
export function toShareHeaders(address: string): Record<string, string> {
  if (opened === undefined) return {}
  const { pathname, searchParams } = new URL(address, location.href)
  const ofSkill = `${nodePath}/api/v1/skills/${encodeURIComponent(opened.fullName)}/`
  const isAbout = `${pathname}/`.startsWith(ofSkill) || searchParams.get('skill') === opened.fullName
  return isAbout ? { 'x-share-token': opened.token } : {}
}

/** Whether a path of the app belongs to the shared skill, which a holder of the link may read on a private node too. */
export const isSharedPath = (path: string): boolean =>
  opened !== undefined && `${path}/`.startsWith(`${addresses.skill(opened.fullName)}/`)

/** The token of the opened share link, if the link is for this skill. */
export const findShareToken = (fullName: string): string | undefined =>
  opened?.fullName === fullName ? opened.token : undefined
