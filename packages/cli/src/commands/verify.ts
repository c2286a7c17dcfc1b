import { writeFileSync } from 'node:fs'
import { verifyProvenance, type ContentFile } from '@skillstead/client/verify'
import { readBytes } from '@skillstead/skill-format/archives'
import { parseProvenance, type Provenance, type RegistryApi } from '@skillstead/protocol'
import { UsageError, text, type Arguments, type Command } from '../command.ts'
import { globalOption } from '../install/install-place.ts'
import { showInstalledReport, verifyInstalled, type InstalledReport } from '../install/verify-installed.ts'
import { toOneLine, type Output } from '../output.ts'
import { findUrl, storeOptions } from '../place.ts'
import { readContentAt, readZipContent } from '../verify/content.ts'
import { readGivenKeys } from '../verify/given-keys.ts'
import { findKnownKeys, keepKnownKeys, knownKeysFile } from '../verify/known-keys.ts'
import { readFollowedKeys, readKeys, withNode } from '../verify/node.ts'
import { readRecord } from '../verify/read-record.ts'
import { showVerification, toVerification, type Verification } from '../verify/report.ts'

/** `skillstead verify [FILE|NAME]`. */
export const verify: Command<Verification | InstalledReport> = {
  summary:
    'Without a word: checks that what is installed is what skills.lock says. With one: checks who published a skill and when, that the log of its node holds it, and that its content is what was published. ' +
    'With the FILE of a saved record it needs no network; a file whose name reads like that of a skill is ./FILE.',
  words: ['[FILE|NAME]'],
  options: {
    version: { value: 'VERSION', help: 'which version; the latest unless it is said' },
    key: {
      value: 'VKEY',
      help: 'the public key of the node, or a file of it; the one pinned at the first use unless it is said',
    },
    content: {
      value: 'PATH',
      help: 'the content to check: a folder, a zip or a SKILL.md; that of the node for a NAME',
    },
    save: { value: 'FILE', help: 'with a NAME: keep the record' },
    url: { value: 'URL', help: 'a running node' },
    'api-key': { value: 'KEY', help: 'the API key for it (or SKILLSTEAD_KEY)', env: 'SKILLSTEAD_KEY' },
    ...globalOption,
    ...storeOptions,
  },
  async run(given, output) {
    const [word] = given.words
    if (word === undefined) {
      refuseOptions(
        given,
        ['version', 'key', 'content', 'save', 'url', 'data', 'database-url'],
        'needs the FILE or the NAME to verify',
      )
      return verifyInstalled(given, output)
    }
    return /^[a-z0-9-]+(?:\/[a-z0-9-]+)?$/.test(word) ? verifyName(given, word, output) : verifyFile(given, word)
  },
  show: (result) => ('installed' in result ? showInstalledReport(result) : showVerification(result)),
  hasFailed: ({ ok }) => !ok,
}

function refuseOptions(given: Arguments, options: readonly string[], why: string): void {
  const option = options.find((one) => text(given, one) !== undefined)
  if (option !== undefined) throw new UsageError(`--${option} ${why}.`)
}

async function verifyFile(given: Arguments, file: string): Promise<Verification> {
  refuseOptions(given, ['url', 'data', 'version', 'save'], 'is for the NAME of a skill, not a file')
  const key = text(given, 'key')
  if (key === undefined) throw new UsageError("Say whose signature it must have: --key and the node's public key.")
  const [keys, path] = [readGivenKeys(key), text(given, 'content')]
  const content = path === undefined ? undefined : await readContentAt(path)
  return toVerification(file, verifyProvenance(readRecord(file), { keys, content }))
}

async function verifyName(given: Arguments, name: string, output: Output): Promise<Verification> {
  const key = text(given, 'key')
  const stated = key === undefined ? undefined : readGivenKeys(key)
  return withNode(given, async (api, registry) => {
    const followed = registry ? await readFollowedKeys(registry) : []
    const { keys, remember } = stated ? { keys: stated } : await findKeys(given, api, followed, output)
    const record = await getRecord(given, api, name)
    const content = await readContent(given, api, name, record.version)
    const report = verifyProvenance(record, { keys, content })
    // A key that does not even fit its own record is not worth trusting.
    if (report.ok) remember?.()
    return toVerification(name, report)
  })
}

/** A record of another skill would be as genuine, so it is refused here: scripts look at the exit code alone. */
async function getRecord(given: Arguments, api: RegistryApi, name: string): Promise<Provenance> {
  const [version, file] = [text(given, 'version'), text(given, 'save')]
  const record = await api.getProvenance({ name, version })
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`)
  const { fullName } = parseProvenance(record).skill
  const isAsked = name.includes('/') ? fullName === name : fullName.endsWith(`/${name}`)
  if (isAsked && (version === undefined || record.version === version)) return record
  const asked = [name, version].filter((part) => part !== undefined).join('@')
  throw new Error(`The node answered with ${toOneLine(`${fullName}@${record.version}`)}, and ${asked} was asked for.`)
}

interface Trusted {
  readonly keys: readonly string[]
  /** Keeps them, where they were met for the first time. */
  readonly remember?: () => void
}

/**
 * The node's own keys for its own files, and those of the registries that it follows; for a node elsewhere those that were
 * pinned, or pinned from now on.
 */
async function findKeys(
  given: Arguments,
  api: RegistryApi,
  followed: readonly string[],
  output: Output,
): Promise<Trusted> {
  const url = findUrl(given)
  const keys = await readKeys(api)
  if (url === undefined) return { keys: [...keys, ...followed] }
  const file = knownKeysFile(given.io.env)
  const known = findKnownKeys(file, url)
  if (!known) return { keys, remember: () => pin(file, url, keys, output) }
  if (known.keys.some((one) => keys.includes(one))) {
    const next = keys.filter((one) => !known.keys.includes(one))
    if (next.length > 0)
      output.say(`${url} is to have another key, ${next[0]}; skillstead key --url ${url} --pin takes it.`)
    return { keys: known.keys }
  }
  throw new Error(
    `The key of ${url} is ${keys[0]} now, and not the one pinned on ${known.since.slice(0, 10)}, ${known.keys[0]}. ` +
      'Nothing of it is believed. Ask its operator by another way; if the new key is theirs, ' +
      `take it with: skillstead key --url ${url} --pin`,
  )
}

function pin(file: string, url: string, keys: readonly string[], output: Output): void {
  keepKnownKeys(file, url, { keys, since: new Date().toISOString() })
  output.say(`This is the first use of ${url}: its key was taken as it is, and pinned in ${file}.`)
  output.say(`Compare it with the one that its operator publishes: ${keys.join(' ')}`)
}

async function readContent(given: Arguments, api: RegistryApi, name: string, version: string): Promise<ContentFile[]> {
  const path = text(given, 'content')
  if (path !== undefined) return readContentAt(path)
  return readZipContent(await readBytes(await api.getArchive({ name, version })))
}
