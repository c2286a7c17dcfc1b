import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { configFile, toNodeAddress, writePrivate } from './config.ts'
import type { Environment } from './io.ts'

/** What a user logged in to a node with. */
export interface Credential {
  readonly key: string
  readonly username: string
}

const Credentials = v.object({
  version: v.literal(1),
  /** The node that commands work on where none is named: the last one logged in to. */
  current: v.nullable(v.string()),
  nodes: v.record(v.string(), v.object({ key: v.string(), username: v.string() })),
})
type Credentials = v.InferOutput<typeof Credentials>

/** Where the keys are kept of the nodes that a user has logged in to. */
export const credentialsFile = (env: Environment): string => configFile('credentials.json', env)

/** The credential for a node, and for no other: a key goes nowhere but to the place that it was given for. */
export function findCredential(env: Environment, url: string): Credential | undefined {
  const { nodes } = readCredentials(env)
  const place = toNodeAddress(url)
  return Object.hasOwn(nodes, place) ? nodes[place] : undefined
}

/** The node that was logged in to last. */
export function findCurrentNode(env: Environment): string | undefined {
  return readCredentials(env).current ?? undefined
}

/** Keeps a credential in place of the one before, and makes its node the current one. */
export function keepCredential(env: Environment, url: string, credential: Credential): void {
  const { nodes } = readCredentials(env)
  const place = toNodeAddress(url)
  writeCredentials(env, { version: 1, current: place, nodes: { ...nodes, [place]: credential } })
}

/** Forgets a node; the credential that was kept for it. */
export function dropCredential(env: Environment, url: string): Credential | undefined {
  const { current, nodes } = readCredentials(env)
  const place = toNodeAddress(url)
  if (!Object.hasOwn(nodes, place)) return undefined
  const { [place]: dropped, ...others } = nodes
  writeCredentials(env, { version: 1, current: current === place ? null : current, nodes: others })
  return dropped
}

function writeCredentials(env: Environment, credentials: Credentials): void {
  const file = credentialsFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // The folder may be older than its first secret.
  chmodSync(dirname(file), 0o700)
  writePrivate(file, `${JSON.stringify(credentials, null, 2)}\n`)
}

function readCredentials(env: Environment): Credentials {
  const file = credentialsFile(env)
  const text = readOwn(file)
  if (text === undefined) return { version: 1, current: null, nodes: {} }
  try {
    return v.parse(Credentials, JSON.parse(text))
  } catch {
    throw new Error(`${file} cannot be read. Mend it, or delete it and log in again.`)
  }
}

/** The text of a file of secrets; undefined where there is none. Throws where others may read it, so that it is noticed. */
function readOwn(file: string): string | undefined {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be opened, so nobody is logged in: ${(error as Error).message}.`, { cause: error })
  }
  try {
    refuseOpen(file, fstatSync(handle).mode)
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

function refuseOpen(file: string, mode: number): void {
  // Windows keeps what is below a profile to its user by other means.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  throw new Error(
    `Others may read ${file}, which holds API keys, so it is not used. Close it with \`chmod 600 ${file}\`, ` +
      'and replace the keys if somebody may have read them.',
  )
}
