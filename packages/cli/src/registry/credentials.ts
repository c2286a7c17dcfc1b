import { readErrorCode, toErrorText } from '@skillstead/protocol'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { configFile, toNodeAddress, writePrivate } from '../files/config.ts'
import { requireOwn } from '../files/file-access.ts'
import type { Environment } from '../terminal/io.ts'

/** A user's login at one node. */
export interface Credential {
  readonly key: string
  readonly username: string
}

const Credentials = v.object({
  version: v.literal(1),
  /** The default node of commands: the node of the latest login. */
  current: v.nullable(v.string()),
  nodes: v.record(v.string(), v.object({ key: v.string(), username: v.string() })),
})
type Credentials = v.InferOutput<typeof Credentials>

/** The file with the API keys of the nodes that a user is logged in to. */
export const credentialsFile = (env: Environment): string => configFile('credentials.json', env)

/** The credential of this node only: a key must not be sent to any other node. */
export function findCredential(env: Environment, url: string): Credential | undefined {
  const { nodes } = readCredentials(env)
  const place = toNodeAddress(url)
  return Object.hasOwn(nodes, place) ? nodes[place] : undefined
}

/** The node of the latest login. */
export function findCurrentNode(env: Environment): string | undefined {
  return readCredentials(env).current ?? undefined
}

/** Saves the credential of a node in place of an earlier one, and makes the node the default. */
export function keepCredential(env: Environment, url: string, credential: Credential): void {
  const { nodes } = readCredentials(env)
  const place = toNodeAddress(url)
  writeCredentials(env, { version: 1, current: place, nodes: { ...nodes, [place]: credential } })
}

/** Removes the credential of a node and returns it. */
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
  writePrivate(file, `${JSON.stringify(credentials, null, 2)}\n`)
}

function readCredentials(env: Environment): Credentials {
  const file = credentialsFile(env)
  const text = readPrivateFile(file)
  if (text === undefined) return { version: 1, current: null, nodes: {} }
  try {
    return v.parse(Credentials, JSON.parse(text))
  } catch {
    throw new Error(`${file} cannot be parsed. Fix it, or delete it and log in again.`)
  }
}

/** Reads a file of secrets; undefined if it does not exist. Throws if other users can read it. */
function readPrivateFile(file: string): string | undefined {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(readErrorCode(error) ?? '')) return undefined
    throw new Error(`${file} cannot be opened, so no login is available: ${toErrorText(error)}.`, {
      cause: error,
    })
  }
  try {
    const stats = fstatSync(handle)
    refuseOpen(file, stats.mode)
    requireOwn(file, stats)
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

function refuseOpen(file: string, mode: number): void {
  // On Windows, access control lists protect a user profile.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  throw new Error(
    `Other users can read ${file}, which contains API keys, so it is not used. Run \`chmod 600 ${file}\`, ` +
      'and replace the keys if other users may have read them.',
  )
}
