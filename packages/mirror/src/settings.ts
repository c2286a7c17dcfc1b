import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VerificationError, parseVerifierKey } from '@skillstead/client/verify'
import { RegistryError, isSkillName, reservedOwners } from '@skillstead/protocol'
import type { AddOptions, MirrorMode, UpstreamKind, UpstreamSettings } from './types.ts'

const everySecondsDefault = 15 * 60
/** How old what an upstream signed, or said, may be. */
export const maxAgeSecondsDefault = 24 * 60 * 60
const modes: readonly MirrorMode[] = ['full', 'selected', 'pull-through']
const secondsMax = 366 * 24 * 60 * 60

/** What is stored of what the operator gave; throws `invalid_request` for what makes no sense. */
export function toSettings(options: AddOptions): UpstreamSettings {
  const { mode = 'full', selected = [], everySeconds = everySecondsDefault, priority = 0 } = options
  const { maxAgeSeconds = maxAgeSecondsDefault, filters = {} } = options
  if (!modes.includes(mode)) throw refuse(`'${mode}' is no mode: it is one of ${modes.join(', ')}.`)
  if (mode === 'selected' && selected.length === 0) throw refuse('The mode `selected` needs the names that are wanted.')
  if (mode !== 'selected' && selected.length > 0)
    throw refuse(`Names are chosen with the mode \`selected\`, and not with \`${mode}\`; filters by name go with each.`)
  for (const [what, value] of [
    ['everySeconds', everySeconds],
    ['maxAgeSeconds', maxAgeSeconds],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 0 || value > secondsMax) {
      throw refuse(`${what} is a number of seconds from 0 to ${secondsMax}.`)
    }
  }
  const reserved = filters.owners?.find((owner) => reservedOwners.has(owner))
  if (reserved !== undefined)
    throw refuse(`'${reserved}' is a reserved name, which no owner can have here. Choose another owner.`)
  if (!Number.isSafeInteger(priority)) throw refuse('priority is a whole number; the higher is synced first.')
  return { mode, filters, everySeconds, priority, maxAgeSeconds, pinned: options.key !== undefined, selected }
}

/** Throws `invalid_request`. */
export function requireUpstreamName(name: string): void {
  if (!isSkillName(name))
    throw refuse(`'${name}' is no name of an upstream: letters a to z, digits and hyphens make one.`)
}

/** Throws `invalid_request`. */
export function requireVerifierKey(key: string): void {
  try {
    parseVerifierKey(key)
  } catch (error) {
    if (error instanceof VerificationError) throw refuse(error.message)
    throw error
  }
}

/** Throws `invalid_request` for what no header can carry; the error that a header would give has the whole key in it. */
export function requireApiKey(key: string): void {
  if (!/^[\x21-\x7e]{1,1000}$/.test(key)) throw refuse('An API key is one word, without spaces and line breaks.')
}

/** What it is that stands there, by how it is written and what lies on the disk. */
export function guessKind(location: string): UpstreamKind {
  if (/^(ssh|git):\/\/|^git@|\.git\/?$/.test(location)) return 'git'
  if (/^https?:\/\//i.test(location)) return /\.json$|\/\.well-known\//.test(location) ? 'discovery' : 'node'
  if (existsSync(join(location, '.git'))) return 'git'
  return /\.(bundle|skillbundle|zst)$/.test(location) ? 'bundle' : 'folder'
}

/** The location as it is stored: an address in its plain form, a path from the root. Throws `invalid_request`. */
export function toLocation(kind: UpstreamKind, location: string): string {
  if (kind === 'node' || kind === 'registry' || kind === 'discovery') return toAddress(location)
  if (kind === 'git' && /^[a-z][a-z+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i.test(location)) return location
  if (/^file:/i.test(location)) return readFileUrl(location)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(location))
    throw refuse(`'${location}' is no address that can be followed: https://, a git repository, or a path is.`)
  return resolve(location)
}

/** A path that nothing is at is a slip far more often than something to come. Throws `invalid_request`. */
export function requireThere(kind: UpstreamKind, location: string): void {
  if (location === '') throw refuse('Say where it is: an address, or a path.')
  const path = toLocation(kind, location)
  if (!isAbsolute(path) || existsSync(path)) return
  const what = kind === 'folder' ? 'folder' : kind === 'git' ? 'repository' : 'file'
  throw refuse(`There is no ${what} ${path}. An address is written with its https://.`)
}

function readFileUrl(location: string): string {
  try {
    return fileURLToPath(location)
  } catch {
    throw refuse(`'${location}' is no address of a file: write it as file:///srv/skills, or as a path.`)
  }
}

function toAddress(location: string): string {
  const url = URL.parse(location)
  if (!url || !/^https?:$/.test(url.protocol))
    throw refuse(`'${location}' is no address: write it as https://skills.example.com.`)
  if (url.username || url.password) throw refuse('An address holds no password: give the key with --api-key.')
  url.hash = ''
  return url.href.replace(/\/$/, '')
}

function refuse(detail: string): RegistryError {
  return new RegistryError('invalid_request', detail)
}
