import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { RegistryError, isSkillName, reservedOwners } from '@skillstead/protocol'
import type { AddOptions, MirrorMode, UpstreamKind, UpstreamSettings } from './types.ts'

const everySecondsDefault = 15 * 60
/** Default maximum age of a signed checkpoint, or of the last successful sync, in seconds. */
export const maxAgeSecondsDefault = 24 * 60 * 60
const modes: readonly MirrorMode[] = ['full', 'selected', 'pull-through']
const secondsMax = 366 * 24 * 60 * 60

/** Validates the operator's options and completes them by the defaults. Throws `invalid_request`. */
export function toUpstreamSettings(options: AddOptions): UpstreamSettings {
  const { mode = 'full', selected = [], everySeconds = everySecondsDefault, priority = 0 } = options
  const { maxAgeSeconds = maxAgeSecondsDefault, filters = {} } = options
  if (!modes.includes(mode)) throw toSettingError(`'${mode}' is not a mode. Use one of ${modes.join(', ')}.`)
  if (mode === 'selected' && selected.length === 0)
    throw toSettingError('The mode `selected` needs the names of the skills to import.')
  if (mode !== 'selected' && selected.length > 0)
    throw toSettingError(`The mode \`${mode}\` takes no list of names. Use the mode \`selected\`, or a filter by name.`)
  for (const [what, value] of [
    ['everySeconds', everySeconds],
    ['maxAgeSeconds', maxAgeSeconds],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 0 || value > secondsMax) {
      throw toSettingError(`${what} must be a number of seconds from 0 to ${secondsMax}.`)
    }
  }
  const reserved = filters.owners?.find((owner) => reservedOwners.has(owner))
  if (reserved !== undefined)
    throw toSettingError(
      `'${reserved}' is a reserved name, which no owner can have on this node. Choose another owner.`,
    )
  if (!Number.isSafeInteger(priority))
    throw toSettingError('priority must be a whole number. Upstreams with a higher priority are synced first.')
  return { mode, filters, everySeconds, priority, maxAgeSeconds, pinned: options.key !== undefined, selected }
}

/** Throws `invalid_request` for a text that cannot be the name of an upstream. */
export function requireUpstreamName(name: string): void {
  if (!isSkillName(name))
    throw toSettingError(`'${name}' is not a valid upstream name. Use the letters a to z, digits and hyphens.`)
}

/** Throws `invalid_request` for a text that is not a verifier key. */
export function requireVerifierKey(key: string): void {
  try {
    parseVerifierKey(key)
  } catch (error) {
    if (error instanceof VerificationError) throw toSettingError(error.message)
    throw error
  }
}

/**
 * Throws `invalid_request` for a key that an HTTP header cannot contain. Checked here, because the error of `Headers`
 * would quote the whole key.
 */
export function requireApiKey(key: string): void {
  if (!/^[\x21-\x7e]{1,1000}$/.test(key))
    throw toSettingError('The API key is invalid: it contains spaces, line breaks or other characters that no key has.')
}

/** Detects the kind of upstream from the form of its location and from the files on disk. */
export function guessKind(location: string): UpstreamKind {
  if (/^(ssh|git):\/\/|^git@|\.git\/?$/.test(location)) return 'git'
  if (/^https?:\/\//i.test(location)) return /\.json$|\/\.well-known\//.test(location) ? 'discovery' : 'node'
  if (existsSync(join(location, '.git'))) return 'git'
  return /\.(bundle|skillbundle|zst)$/.test(location) ? 'bundle' : 'folder'
}

/** The location in its stored form: a normalized URL, or an absolute path. Throws `invalid_request`. */
export function toUpstreamLocation(kind: UpstreamKind, location: string): string {
  if (kind === 'node' || kind === 'registry' || kind === 'discovery') return toUpstreamUrl(location)
  if (kind === 'git' && /^[a-z][a-z+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i.test(location)) return location
  if (/^file:/i.test(location)) return readFileUrl(location)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(location))
    throw toSettingError(`'${location}' is not a supported location. Use an https:// URL, a git repository or a path.`)
  return resolve(location)
}

/** Throws `invalid_request` for a path that does not exist, which is usually a typing error. */
export function requireThere(kind: UpstreamKind, location: string): void {
  if (location === '') throw toSettingError('The location is missing. Pass a URL or a path.')
  const path = toUpstreamLocation(kind, location)
  if (!isAbsolute(path) || existsSync(path)) return
  const what = kind === 'folder' ? 'folder' : kind === 'git' ? 'repository' : 'file'
  throw toSettingError(`There is no ${what} ${path}. To add a URL, start it with https://.`)
}

function readFileUrl(location: string): string {
  try {
    return fileURLToPath(location)
  } catch {
    throw toSettingError(`'${location}' is not a valid file URL. Use a form like file:///srv/skills, or a path.`)
  }
}

function toUpstreamUrl(location: string): string {
  const url = URL.parse(location)
  if (!url || !/^https?:$/.test(url.protocol))
    throw toSettingError(`'${location}' is not a valid URL. Use a form like https://skills.example.com.`)
  if (url.username || url.password)
    throw toSettingError('The URL must not contain a password. Pass the key with --api-key.')
  url.hash = ''
  return url.href.replace(/\/$/, '')
}

function toSettingError(detail: string): RegistryError {
  return new RegistryError('invalid_request', detail)
}
